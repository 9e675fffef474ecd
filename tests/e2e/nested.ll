; SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
; Functions that call each other, without frame pointers; @jit_leaf takes the time.

define i64 @jit_leaf(i64 %turns) #0 {
entry:
  br label %again

again:
  %turn = phi i64 [ 0, %entry ], [ %next, %again ]
  %x = phi i64 [ 88172645463325252, %entry ], [ %x3, %again ]
  %a = shl i64 %x, 13
  %x1 = xor i64 %x, %a
  %b = lshr i64 %x1, 7
  %x2 = xor i64 %x1, %b
  %c = shl i64 %x2, 17
  %x3 = xor i64 %x2, %c
  %next = add i64 %turn, 1
  %last = icmp eq i64 %next, %turns
  br i1 %last, label %out, label %again

out:
  ret i64 %x3
}

define i64 @jit_middle(i64 %turns) #0 {
  %room = alloca [40 x i64]
  %place = getelementptr [40 x i64], [40 x i64]* %room, i64 0, i64 3
  %value = call i64 @jit_leaf(i64 %turns)
  store volatile i64 %value, i64* %place
  %again = load volatile i64, i64* %place
  ret i64 %again
}

define i64 @jit_outer(i64 %turns) #0 {
  %value = call i64 @jit_middle(i64 %turns)
  %product = mul i64 %value, %turns
  ret i64 %product
}

define i32 @main(i32 %argc, i8** %argv) #0 {
  %place = getelementptr i8*, i8** %argv, i64 1
  %text = load i8*, i8** %place
  %turns = call i64 @atol(i8* %text)
  %value = call i64 @jit_outer(i64 %turns)
  %small = trunc i64 %value to i32
  %none = and i32 %small, 0
  ret i32 %none
}

declare i64 @atol(i8*)

attributes #0 = { noinline nounwind uwtable "frame-pointer"="none" }
