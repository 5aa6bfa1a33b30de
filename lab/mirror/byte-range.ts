export interface ByteRange {
  readonly first: number
  readonly last: number
}

/**
 * Returns the bytes that a Range header requests from a file of `size` bytes. Headers with anything but a
 * single byte range are ignored.
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
