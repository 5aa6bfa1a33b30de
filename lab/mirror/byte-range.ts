export interface ByteRange {
  readonly first: number
  readonly last: number
}

/**
 * The bytes of a file of `size` that a Range header requests. Anything but a single byte range counts as no
 * range, as HTTP requires.
 */
export function parseByteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'all' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return 'all'
  if (from !== '' && to !== '' && Number(to) < Number(from)) return 'all'
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  return first < size ? { first, last } : 'unsatisfiable'
}
