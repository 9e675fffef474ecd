// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! rust_stacks - the own call chain by the C interface.

use std::os::raw::{c_int, c_void};

#[link(name = "bobbin-backtrace")]
extern "C" {
    fn backtrace(buffer: *mut *mut c_void, size: c_int) -> c_int;
}

fn stack() -> Vec<usize> {
    let mut addresses = [std::ptr::null_mut(); 64];
    let count = unsafe { backtrace(addresses.as_mut_ptr(), 64) };

    addresses[..count as usize].iter().map(|address| *address as usize).collect()
}

#[inline(never)]
fn recurse(depth: usize) -> Vec<usize> {
    if depth == 0 {
        return stack();
    }
    let mut frames = recurse(depth - 1);
    frames.shrink_to_fit();
    frames
}

fn main() {
    let (near, far) = (recurse(1).len(), recurse(11).len());

    println!("{} frames more", far - near);
    // with RUST_BACKTRACE=1: by _Unwind_Backtrace(), which is the library's, too
    let caught = std::panic::catch_unwind(|| panic!("with a stack"));
    println!("{}", if caught.is_err() { "caught" } else { "not caught" });
}
