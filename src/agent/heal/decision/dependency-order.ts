/** Needs come before those who need them; for the rest it stays as it was. Needs that are not there are nobody's. */
export function inOrder<T extends { readonly component: string; readonly needs: readonly string[] }>(
  components: readonly T[],
): T[] {
  const left = new Map(components.map((one) => [one.component, one]))
  const ordered: T[] = []
  const place = (one: T): void => {
    if (!left.delete(one.component)) return
    for (const need of one.needs) {
      const needed = left.get(need)
      if (needed !== undefined) place(needed)
    }
    ordered.push(one)
  }
  components.forEach(place)
  return ordered
}

/** All that a component needs, and what that needs, the nearest first. */
export function allNeeds<T extends { readonly component: string; readonly needs: readonly string[] }>(
  one: T,
  components: ReadonlyMap<string, T>,
): T[] {
  const found = new Map<string, T>()
  const visit = ({ needs }: T): void => {
    const nearest = needs.flatMap((need) => components.get(need) ?? [])
    const unseen = nearest.filter(({ component }) => component !== one.component && !found.has(component))
    for (const need of unseen) found.set(need.component, need)
    unseen.forEach(visit)
  }
  visit(one)
  return [...found.values()]
}
