// Where the nodes of a syntax tree live: they are allocated one behind the other, never moved, and
// released all at once with the arena, without visiting them. So nodes own nothing: children are
// pointers, lists are arrays in the arena, and names are strings that equal texts share.
//
//   const SourceRange *node = arena.make<SourceRange>(file, 0u, 1u);
//   llvm::ArrayRef<int> elements = arena.copy(std::vector<int>{1, 2});
//   const std::string &name = arena.intern("X");
#ifndef TOKAMAK_FRONTEND_DML_SYNTAXARENA_H
#define TOKAMAK_FRONTEND_DML_SYNTAXARENA_H

#include "base/HugePages.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tokamak::frontend {

class SyntaxArena {
public:
  template <typename Node, typename... Arguments> const Node *make(Arguments &&...arguments) {
    static_assert(std::is_trivially_destructible_v<Node>, "nodes are released unvisited");
    static_assert(!(isOwnString<Arguments> || ...), "nodes refer to strings: intern them");
    return new (nodes_.Allocate<Node>()) Node(std::forward<Arguments>(arguments)...);
  }

  template <typename List> llvm::ArrayRef<typename List::value_type> copy(const List &elements) {
    using Element = typename List::value_type;
    static_assert(std::is_trivially_destructible_v<Element>, "nodes are released unvisited");
    auto *copies = nodes_.Allocate<Element>(elements.size());
    std::uninitialized_copy(elements.begin(), elements.end(), copies);
    return {copies, elements.size()};
  }

  /// The string that all equal texts share.
  const std::string &intern(std::string_view text) {
    auto [entry, isNew] = names_.try_emplace({text.data(), text.size()});
    if (isNew)
      entry->second = text;
    return entry->second;
  }

private:
  /// Strings of this arena are constant.
  template <typename T>
  static constexpr bool isOwnString =
      std::is_same_v<T, std::string> || std::is_same_v<T, std::string &>;

  struct Slabs : llvm::AllocatorBase<Slabs> {
    void *Allocate(size_t size, size_t) {
      if (void *slab = allocateOnHugePages(size))
        return slab;
      throw std::bad_alloc();
    }
    void Deallocate(const void *slab, size_t, size_t) { std::free(const_cast<void *>(slab)); }
  };
  /// Slabs double after every second one, so that large files come to use huge pages.
  static constexpr size_t slabBytes = 4096, slabsOfASize = 2;

  llvm::BumpPtrAllocatorImpl<Slabs, slabBytes, slabBytes, slabsOfASize> nodes_;
  llvm::StringMap<std::string> names_;
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_SYNTAXARENA_H
