#include "optimized/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "core/check.h"

namespace wgrad::optimized {
namespace {

blasint Narrow(std::int64_t extent) {
  WGRAD_CHECK(extent >= 0 && extent <= LargestGemmExtent(), "extent does not fit OpenBLAS's integer");
  return static_cast<blasint>(extent);
}

// The caller splits the work itself: threads inside OpenBLAS would compete with it and make bits depend on their
// number.
void UseOneThread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

// The arguments of ?gemm for row-major storage.
template <typename Real>
struct Arguments {
  Arguments(const GemmSizes& sizes, const Operand<Real>& a_operand, const Operand<Real>& b_operand,
            const Sum<Real>& sum)
      : transpose_a(a_operand.position_major ? CblasTrans : CblasNoTrans),
        transpose_b(b_operand.position_major ? CblasNoTrans : CblasTrans),
        m(Narrow(sizes.m)),
        n(Narrow(sizes.n)),
        k(Narrow(sizes.positions)),
        lda(Narrow(std::max<std::int64_t>(1, a_operand.leading))),
        ldb(Narrow(std::max<std::int64_t>(1, b_operand.leading))),
        ldc(Narrow(std::max<std::int64_t>(1, sum.leading))) {
    UseOneThread();
  }

  CBLAS_TRANSPOSE transpose_a;
  CBLAS_TRANSPOSE transpose_b;
  blasint m, n, k, lda, ldb, ldc;
};

}  // namespace

std::int64_t LargestGemmExtent() { return std::numeric_limits<blasint>::max(); }

void AddProduct(const GemmSizes& sizes, const Operand<float>& a, const Operand<float>& b, const Sum<float>& sum) {
  const Arguments<float> args(sizes, a, b, sum);
  cblas_sgemm(CblasRowMajor, args.transpose_a, args.transpose_b, args.m, args.n, args.k, 1.0F, a.data, args.lda, b.data,
              args.ldb, 1.0F, sum.data, args.ldc);
}

void AddProduct(const GemmSizes& sizes, const Operand<double>& a, const Operand<double>& b, const Sum<double>& sum) {
  const Arguments<double> args(sizes, a, b, sum);
  cblas_dgemm(CblasRowMajor, args.transpose_a, args.transpose_b, args.m, args.n, args.k, 1.0, a.data, args.lda, b.data,
              args.ldb, 1.0, sum.data, args.ldc);
}

std::string GemmLibraryVersion() {
  // "OpenBLAS 0.3.21 NO_LAPACKE ..": the second word is the version; the kernel set is chosen at run time.
  std::istringstream config(openblas_get_config());
  std::string name;
  std::string version;
  config >> name >> version;
  return version + ", " + openblas_get_corename() + " kernels";
}

}  // namespace wgrad::optimized
