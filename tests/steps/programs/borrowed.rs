// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Rust that does not unwind: traits, closures, collections, formatting.
use std::collections::BTreeMap;

trait Shape {
    fn area(&self, by: u64) -> u64;
}

struct Square(u64);
struct Pile(Vec<Box<dyn Shape>>);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, by: u64) -> u64 {
        self.0.wrapping_mul(self.0).wrapping_mul(by)
    }
}

impl Shape for Pile {
    #[inline(never)]
    fn area(&self, by: u64) -> u64 {
        self.0.iter().map(|s| s.area(by)).fold(0, u64::wrapping_add)
    }
}

#[inline(never)]
fn recursive(n: u64) -> u64 {
    if n < 2 {
        n
    } else {
        recursive(n - 1) + recursive(n - 2)
    }
}

#[inline(never)]
fn work(n: u64) -> u64 {
    let mut list: Vec<Box<dyn Shape>> = Vec::new();
    for i in 0..4 {
        list.push(Box::new(Square((i * 7 + n) % 5)));
    }
    let pile = Pile(list);
    let mut counts = BTreeMap::new();
    for i in 0..6 {
        *counts.entry((i * 3 + n) % 4).or_insert(0) += pile.area(i);
    }
    let mut words: Vec<String> = counts.iter().map(|(k, v)| format!("{}={}", k, v)).collect();
    words.sort_by(|a, b| b.cmp(a));
    words.join(",").len() as u64 + recursive(5 + n % 3)
}

fn main() {
    let mut sum = 0u64;
    for n in 0..40 {
        sum = sum.wrapping_add(work(n));
    }
    println!("{}", sum);
}
