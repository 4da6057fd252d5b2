// fiber.cpp: stacks, and the switch between them, on x86-64 by hand (some nanoseconds), elsewhere by
// ucontext (a system call).
#include "fiber.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

namespace
{
constexpr size_t STACK = 256 << 10;

char *new_stack()
{
  void *const memory =
      mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) != 0) {  // overflow is a fault
    fputs("the emulator has no memory for stacks\n", stderr);
    abort();
  }
  return (char *)memory;
}
}  // namespace

#ifdef __x86_64__
/// Keeps the registers that a function must not change on the stack.
asm(R"(
.text
.type emulated_switch, @function
emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq (%rsi), %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
extern "C" void emulated_switch(void **from, void **to);

void emulated::prepare(fiber *f, void (*entry)())
{
  if (f->stack == nullptr) f->stack = new_stack();
  void **top = (void **)((char *)f->stack + STACK) - 1;  // as after a call: 8 beyond 16 bytes
  *top = nullptr;
  *--top = (void *)entry;
  f->at = top - 6;  // six registers, whatever they hold
}

void emulated::switch_to(fiber *from, fiber *to)
{
  emulated_switch(&from->at, &to->at);
}
#else
#include <ucontext.h>

void emulated::prepare(fiber *f, void (*entry)())
{
  if (f->stack == nullptr) f->stack = new_stack();
  if (f->at == nullptr) f->at = calloc(1, sizeof(ucontext_t));
  ucontext_t *const c = (ucontext_t *)f->at;
  getcontext(c);
  c->uc_stack.ss_sp = f->stack;
  c->uc_stack.ss_size = STACK;
  makecontext(c, entry, 0);
}

void emulated::switch_to(fiber *from, fiber *to)
{
  if (from->at == nullptr) from->at = calloc(1, sizeof(ucontext_t));
  swapcontext((ucontext_t *)from->at, (ucontext_t *)to->at);
}
#endif
