{ SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause }
{ Pascal: nested procedures, strings, sets, objects, many arguments. }
program ordered;

{$mode objfpc}

type
  TShape = class
    function Area(by: int64): int64; virtual; abstract;
  end;

  TSquare = class(TShape)
    side: int64;
    constructor Create(s: int64);
    function Area(by: int64): int64; override;
  end;

constructor TSquare.Create(s: int64);
begin
  side := s;
end;

function TSquare.Area(by: int64): int64;
begin
  Area := side * side * by;
end;

function Many(a, b, c, d, e, f, g, h, i: int64): int64;
begin
  Many := a + b - c + d - e + f - g + h - i;
end;

function Work(n: int64): int64;
var
  total: int64;
  s: string;
  t: ansistring;
  shape: TShape;

  procedure Add(m: int64);
  begin
    if m > 0 then
      Add(m - 1);
    total := total + Many(m, n, 1, 2, 3, 4, 5, 6, m);
  end;

begin
  total := 0;
  Add(n mod 4);
  str(n, s);
  t := s + 'x';
  t := t + t;
  shape := TSquare.Create(n);
  case n mod 6 of
    0: total := total + shape.Area(2);
    1: total := total - length(t);
    2: Add(1);
    3: total := total * 2;
    4: total := total + shape.Area(length(s));
  else
    total := total + 5;
  end;
  shape.Free;
  Work := total + length(t);
end;

var
  n, sum: int64;
begin
  sum := 0;
  for n := 0 to 40 do
    sum := sum + Work(n);
  writeln(sum);
end.
