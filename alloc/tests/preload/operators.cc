/* C++ on whichever malloc is there: each form of operator new and delete, aligned,
 * sized, not throwing, of arrays; the new handler and its exception; containers and
 * objects whose destructors run at the end of threads and of the program. The exit code is
 * the line of what went wrong. */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#define MUST(condition)                                                                  \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::_Exit(__LINE__ % 256);                                                  \
        }                                                                                \
    } while (0)

struct alignas(256) Aligned {
    char bytes[300];
};

struct alignas(8192) Page {
    char bytes[8192];
};

/* Its life ends after main, or after its thread's function. */
struct Late {
    std::map<int, std::string> names;
    ~Late()
    {
        for (int i = 0; i < 100; i++) {
            names[i] += std::string(static_cast<std::size_t>(i) * 10, 'x');
        }
    }
};

static Late of_the_program;
static thread_local Late of_the_thread;

static int handler_calls;

static void give_up_at_the_third_call()
{
    if (++handler_calls == 3) {
        std::set_new_handler(nullptr);
    }
}

template <typename Type> static bool is_aligned(const Type *object)
{
    return reinterpret_cast<std::uintptr_t>(object) % alignof(Type) == 0;
}

static void plain_and_sized()
{
    for (std::size_t bytes = 0; bytes < 100000; bytes = bytes * 2 + 1) {
        void *one = ::operator new(bytes);
        void *two = ::operator new[](bytes);
        void *three = ::operator new(bytes, std::nothrow);
        MUST(one != nullptr && two != nullptr && three != nullptr && one != two);
        std::memset(one, 1, bytes);
        std::memset(two, 2, bytes);
        ::operator delete(one, bytes);
        ::operator delete[](two, bytes);
        ::operator delete(three, std::nothrow);
    }
    ::operator delete(nullptr);
    ::operator delete[](nullptr);
}

static void aligned()
{
    for (std::size_t power = 1; power <= (std::size_t{1} << 20); power *= 2) {
        auto alignment = static_cast<std::align_val_t>(power);
        for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, power, 3 * power + 5}) {
            void *one = ::operator new(bytes, alignment);
            void *two = ::operator new[](bytes, alignment, std::nothrow);
            MUST(reinterpret_cast<std::uintptr_t>(one) % power == 0);
            MUST(reinterpret_cast<std::uintptr_t>(two) % power == 0);
            std::memset(one, 1, bytes);
            ::operator delete(one, bytes, alignment);
            ::operator delete[](two, alignment);
        }
    }
    std::unique_ptr<Aligned> object(new Aligned);
    std::unique_ptr<Page[]> pages(new Page[3]);
    std::vector<Aligned> many(100);
    MUST(is_aligned(object.get()) && is_aligned(&pages[2]) && is_aligned(&many[99]));
}

static void refused()
{
    volatile std::size_t huge = std::numeric_limits<std::ptrdiff_t>::max() / 2;
    MUST(::operator new(huge, std::nothrow) == nullptr);
    MUST(::operator new[](huge, std::align_val_t{64}, std::nothrow) == nullptr);
    std::set_new_handler(give_up_at_the_third_call);
    bool thrown = false;
    try {
        ::operator delete(::operator new(huge));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    MUST(thrown && handler_calls == 3);
    thrown = false;
    try {
        std::string(huge, 'x').clear();
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    MUST(thrown);
}

static void threads()
{
    std::vector<std::thread> workers;
    for (int i = 0; i < 20; i++) {
        workers.emplace_back([i] { of_the_thread.names[i] = std::string(1000, 'y'); });
    }
    for (auto &worker : workers) {
        worker.join();
    }
}

int main()
{
    plain_and_sized();
    aligned();
    refused();
    threads();
    of_the_program.names[1000] = "main";
    of_the_thread.names[1000] = "main";
    return EXIT_SUCCESS;
}
