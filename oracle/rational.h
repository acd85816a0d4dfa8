// Exact rational numbers for bounds, beside Dyadic for sums. May include: core, reference.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include "core/dtype.h"
#include "reference/dyadic.h"

namespace wgrad::oracle {

using Rational = boost::multiprecision::cpp_rational;

Rational ToRational(const Dyadic& value);
Rational PowerOfTwo(int exponent);
/// The nearest double within a relative 2^-52; infinity and 0 outside double's range.
double ToDouble(const Rational& value);
/// A Dyadic on the same side of every rounding boundary of every dtype as `value`: `value` cut after 160 bits, with one
/// more bit that tells whether anything was cut. So RoundTo on it rounds `value` itself, in every mode.
Dyadic ToSticky(const Rational& value);
/// The square root of `square` >= 0, rounded up by less than a relative 2^-100.
Rational SquareRootUp(const Rational& square);

}  // namespace wgrad::oracle
