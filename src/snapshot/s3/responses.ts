import type { StoredSnapshot } from '../store.ts'

/* What a bucket's server says is XML of a few known elements. What is in none of them is not looked at. */

export interface ObjectPage {
  /** With whole keys for names. */
  readonly objects: readonly StoredSnapshot[]
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined
}

export function objectPage(xml: string): ObjectPage {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, content = '']) => {
    const [name, size, modified] = [
      element(content, 'Key'),
      element(content, 'Size'),
      element(content, 'LastModified'),
    ]
    const time = new Date(modified ?? '')
    if (name === undefined || !/^\d{1,15}$/.test(size ?? '') || Number.isNaN(time.getTime())) return []
    return [{ name, size: Number(size), modified: time }]
  })
  return { objects, next: element(xml, 'NextContinuationToken') }
}

export function uploadId(xml: string): string | undefined {
  return element(xml, 'UploadId')
}

/** What it says when it says no; undefined when it does not. */
export function refusal(xml: string): { readonly code: string; readonly message: string } | undefined {
  const error = /<Error>(.*?)<\/Error>/s.exec(xml)?.[1]
  if (error === undefined) return undefined
  return { code: element(error, 'Code') ?? '', message: element(error, 'Message') ?? '' }
}

/** What puts the parts of an upload together. */
export function completion(etags: readonly string[]): string {
  const parts = etags.map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  )
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
}

function element(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text?.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, word) =>
    character(whole, decimal, hex, word),
  )
}

const words: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function character(whole: string, decimal?: string, hex?: string, word = ''): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  if (Number.isNaN(code)) return words[word] ?? whole
  return code > 0x10_ff_ff ? whole : String.fromCodePoint(code)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
