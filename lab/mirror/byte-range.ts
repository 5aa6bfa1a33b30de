export interface ByteRange {
  readonly first: number
  readonly last: number
}

/**
 * The bytes that a Range header asks for, of a file of `size`. Whatever is not one range of bytes counts as no wish at
 * all, as HTTP has it.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'all' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return 'all'
  if (from !== '' && to !== '' && Number(to) < Number(from)) return 'all'
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  return first < size ? { first, last } : 'unsatisfiable'
}
