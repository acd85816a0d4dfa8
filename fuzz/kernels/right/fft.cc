// Correlation by the fast Fourier transform: strides as zeros between the pixels of out_backprop, dilations as lags.
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/scaled.h"

namespace wgrad::fuzz {
namespace {

// Without the special treatment of infinities that the operator of std::complex has.
template <typename Real>
std::complex<Real> Times(const std::complex<Real>& a, const std::complex<Real>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Transforms of `size` values, a power of two; roots accurate to half an ulp or little more.
template <typename Real>
class Fourier {
 public:
  explicit Fourier(std::size_t size) : size_(size) {
    for (std::size_t k = 0; k < size / 2; ++k) {
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / size;
      roots_.emplace_back(static_cast<Real>(std::cos(angle)), static_cast<Real>(-std::sin(angle)));
    }
  }

  std::size_t size() const { return size_; }

  /// In place on every stride-th value from `first` on.
  void Run(std::vector<std::complex<Real>>& values, std::size_t first, std::size_t stride, bool inverse) const {
    Reverse(values, first, stride);
    for (std::size_t half = 1; half < size_; half *= 2) {
      for (std::size_t block = 0; block < size_; block += 2 * half) {
        for (std::size_t k = 0; k < half; ++k) {
          const std::complex<Real>& root = roots_[k * (size_ / (2 * half))];
          std::complex<Real>& low = values[first + (block + k) * stride];
          std::complex<Real>& high = values[first + (block + k + half) * stride];
          const std::complex<Real> turned = Times(inverse ? std::conj(root) : root, high);
          high = low - turned;
          low = low + turned;
        }
      }
    }
  }

 private:
  void Reverse(std::vector<std::complex<Real>>& values, std::size_t first, std::size_t stride) const {
    for (std::size_t at = 1, mirrored = 0; at < size_; ++at) {
      std::size_t bit = size_ / 2;
      for (; (mirrored & bit) != 0; bit /= 2) mirrored ^= bit;
      mirrored |= bit;
      if (at < mirrored) std::swap(values[first + at * stride], values[first + mirrored * stride]);
    }
  }

  std::size_t size_;
  std::vector<std::complex<Real>> roots_;
};

std::size_t PaddedSize(const Axis& axis) {
  return std::bit_ceil(static_cast<std::size_t>(axis.input + axis.pad_before + axis.pad_after));
}

// One plane of numbers and its transforms.
template <typename Real>
class Plane {
 public:
  using Spectrum = std::vector<std::complex<Real>>;

  explicit Plane(const Problem& problem) : rows_(PaddedSize(problem.rows())), columns_(PaddedSize(problem.columns())) {}

  Spectrum Zeros() const { return Spectrum(rows_.size() * columns_.size()); }
  std::complex<Real>& At(Spectrum& spectrum, std::int64_t row, std::int64_t column) const {
    return spectrum[static_cast<std::size_t>(row) * columns_.size() + static_cast<std::size_t>(column)];
  }
  void Run(Spectrum& spectrum, bool inverse) const {
    for (std::size_t row = 0; row < rows_.size(); ++row) columns_.Run(spectrum, row * columns_.size(), 1, inverse);
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      rows_.Run(spectrum, column, columns_.size(), inverse);
    }
  }

 private:
  Fourier<Real> rows_;
  Fourier<Real> columns_;
};

template <typename Real>
typename Plane<Real>::Spectrum InputSpectrum(const Operands<Real>& o, const Plane<Real>& plane, std::int64_t n,
                                             std::int64_t c) {
  auto spectrum = plane.Zeros();
  for (std::int64_t ih = 0; ih < o.problem.rows().input; ++ih) {
    for (std::int64_t iw = 0; iw < o.problem.columns().input; ++iw) {
      plane.At(spectrum, ih + o.problem.rows().pad_before, iw + o.problem.columns().pad_before) = o.Input(n, ih, iw, c);
    }
  }
  plane.Run(spectrum, false);
  return spectrum;
}

template <typename Real>
typename Plane<Real>::Spectrum GradientSpectrum(const Operands<Real>& o, const Plane<Real>& plane, std::int64_t n,
                                                std::int64_t oc) {
  auto spectrum = plane.Zeros();
  for (std::int64_t oh = 0; oh < o.problem.rows().output; ++oh) {
    for (std::int64_t ow = 0; ow < o.problem.columns().output; ++ow) {
      plane.At(spectrum, oh * o.problem.rows().stride, ow * o.problem.columns().stride) = o.OutBackprop(n, oh, ow, oc);
    }
  }
  plane.Run(spectrum, false);
  return spectrum;
}

// The spectra of one tensor: [channel][n].
template <typename Make>
auto SpectraOf(const Problem& problem, std::int64_t channels, Make make) {
  std::vector<std::vector<decltype(make(0, 0))>> spectra(static_cast<std::size_t>(channels));
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t n = 0; n < problem.batch(); ++n) {
      spectra[static_cast<std::size_t>(channel)].push_back(make(n, channel));
    }
  }
  return spectra;
}

template <typename Real>
void StoreLags(const Scaled<Real>& scaled, const Plane<Real>& plane, typename Plane<Real>::Spectrum& product,
               std::int64_t ic, std::int64_t oc, Sums& sums) {
  const Problem& problem = scaled.operands.problem;
  plane.Run(product, true);
  for (std::int64_t kh = 0; kh < problem.rows().filter; ++kh) {
    for (std::int64_t kw = 0; kw < problem.columns().filter; ++kw) {
      const std::complex<Real>& lag = plane.At(product, kh * problem.rows().dilation, kw * problem.columns().dilation);
      const Real sum = lag.real() / static_cast<Real>(product.size());  // a power of two: exact
      sums[static_cast<std::size_t>(problem.FilterOffset(kh, kw, ic, oc))] =
          scaled.Unscaled(sum, InputChannelOf(problem, ic, oc), oc);
    }
  }
}

template <typename Real>
void Fft(const Operands<Real>& operands, Sums& sums) {
  const Problem& problem = operands.problem;
  if (problem.positions() == 0) return;
  const Scaled<Real> scaled = ScaledByChannel(operands);
  const Plane<Real> plane(problem);
  const auto inputs = SpectraOf(problem, problem.input_depth(), [&](std::int64_t n, std::int64_t c) {
    return InputSpectrum(scaled.operands, plane, n, c);
  });
  const auto gradients = SpectraOf(problem, problem.out_depth(), [&](std::int64_t n, std::int64_t oc) {
    return GradientSpectrum(scaled.operands, plane, n, oc);
  });
  for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
    for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
      auto product = plane.Zeros();
      for (std::size_t n = 0; n < static_cast<std::size_t>(problem.batch()); ++n) {
        const auto& x = inputs[static_cast<std::size_t>(InputChannelOf(problem, ic, oc))][n];
        const auto& dy = gradients[static_cast<std::size_t>(oc)][n];
        for (std::size_t at = 0; at < product.size(); ++at) product[at] += Times(x[at], std::conj(dy[at]));
      }
      StoreLags(scaled, plane, product, ic, oc, sums);
    }
  }
}

}  // namespace

std::vector<Method> FftMethods() {
  RightKernel fft = Described("fft", "products of spectra, summed over the images before the way back",
                              {.own = "channel:fft", .narrow = "channel:fft"});
  fft.declaration.pad = "either";
  fft.capabilities.max_elements = 1 << 20;
  return {{fft, WorkingKernel([](const auto& operands, Sums& sums) {
             Fft(operands, sums);
             return KernelStatus{};
           })}};
}

}  // namespace wgrad::fuzz
