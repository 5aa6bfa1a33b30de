/** A field that is another one than before; without a `before` it was not there, without an `after` it will not be. */
export interface ChangedField {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** All that differs between two values, each as far down as it can be told: spec.containers[0].image. */
export function changedFields(before: unknown, after: unknown, path = ''): ChangedField[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
    return keys.flatMap((key) => changedFields(before[key], after[key], below(path, key)))
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      changedFields(before[index], after[index], `${path}[${index}]`),
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

function below(path: string, key: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
