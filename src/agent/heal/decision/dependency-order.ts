/**
 * Sorts dependencies before their dependents and otherwise keeps the order. Unknown dependencies are ignored.
 */
export function sortByDependencies<
  T extends { readonly component: string; readonly needs: readonly string[] },
>(components: readonly T[]): T[] {
  const left = new Map(components.map((one) => [one.component, one]))
  const ordered: T[] = []
  const append = (one: T): void => {
    if (!left.delete(one.component)) return
    for (const need of one.needs) {
      const needed = left.get(need)
      if (needed !== undefined) append(needed)
    }
    ordered.push(one)
  }
  components.forEach(append)
  return ordered
}

/** Returns all direct and indirect dependencies of a component, direct ones first. */
export function listDependencies<T extends { readonly component: string; readonly needs: readonly string[] }>(
  one: T,
  components: ReadonlyMap<string, T>,
): T[] {
  const found = new Map<string, T>()
  const visit = ({ needs }: T): void => {
    const direct = needs.flatMap((need) => components.get(need) ?? [])
    const unvisited = direct.filter(({ component }) => component !== one.component && !found.has(component))
    for (const need of unvisited) found.set(need.component, need)
    unvisited.forEach(visit)
  }
  visit(one)
  return [...found.values()]
}
