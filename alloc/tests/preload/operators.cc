/* C++ under the preload: operator new and delete reach the replacement through libstdc++,
 * and a request that cannot be met throws. */
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <vector>

struct alignas(256) Aligned {
    char bytes[300];
};

int main()
{
    std::vector<std::unique_ptr<int[]>> blocks;
    for (std::size_t i = 1; i < 5000; i++) {
        blocks.emplace_back(new int[i]);
        blocks.back()[i - 1] = 1;
    }
    std::unique_ptr<Aligned> aligned(new Aligned);
    if (reinterpret_cast<std::uintptr_t>(aligned.get()) % 256 != 0) {
        return EXIT_FAILURE;
    }
    volatile std::size_t huge = std::numeric_limits<std::ptrdiff_t>::max() / 2;
    if (new (std::nothrow) char[huge] != nullptr) {
        return EXIT_FAILURE;
    }
    try {
        blocks.emplace_back(reinterpret_cast<int *>(new char[huge]));
    } catch (const std::bad_alloc &) {
        return EXIT_SUCCESS;
    }
    return EXIT_FAILURE;
}
