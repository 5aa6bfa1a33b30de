/** A changed field. Without `before` the field is added, without `after` it is removed. */
export interface ChangedField {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Lists all differences between two values, each at the deepest path: spec.containers[0].image. */
export function findChangedFields(before: unknown, after: unknown, path = ''): ChangedField[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
    return keys.flatMap((key) => findChangedFields(before[key], after[key], joinPath(path, key)))
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      findChangedFields(before[index], after[index], `${path}[${index}]`),
    )
  }
  if (Object.is(before, after)) return []
  return [
    {
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
  ]
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function joinPath(path: string, key: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
