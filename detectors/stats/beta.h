// The beta law: distribution function and quantile.
#pragma once

namespace outcomed {

// I_x(a, b), the regularised incomplete beta function = P(X <= x) for X ~ Beta(a, b), by Lentz's
// continued fraction (Abramowitz & Stegun 26.5.8). a, b > 0; x outside [0, 1] is taken to its ends.
// Relative error about 1e-16 · (a + b): 1e-13 at 1000, 1e-10 at 1e6.
double incomplete_beta(double a, double b, double x);

// The x with P(X <= x) = q, by bisection (60 halvings: absolute error 1e-18, plus what
// incomplete_beta() allows). a, b > 0; q <= 0 gives 0, q >= 1 gives 1.
double beta_quantile(double q, double a, double b);

}  // namespace outcomed
