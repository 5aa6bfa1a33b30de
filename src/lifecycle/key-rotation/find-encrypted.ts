import { z } from 'zod'
import type { EtcdClient } from '../../etcd/client.ts'
import { isEtcdError } from '../../etcd/etcd-error.ts'

/** Where the API keeps what is encrypted. */
const places = ['/registry/secrets/', '/registry/configmaps/'] as const
/** How many at once: as many as usual, and fewer where they are so large that the answer would be too long. */
const pageSizes = [200, 20, 1] as const

const pair = z.looseObject({ key: z.base64(), value: z.base64().default('') })
const page = z.looseObject({ kvs: z.array(pair).default([]), more: z.boolean().default(false) })

/** Keys in etcd of all that is encrypted with the key of a name: it is written before each of them. */
export async function encryptedWith(
  etcd: Pick<EtcdClient, 'read'>,
  name: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const mark = Buffer.from(`k8s:enc:secretbox:v1:${name}:`)
  const found: string[] = []
  for (const place of places) {
    const end = base64(`${place.slice(0, -1)}0`)
    let from = base64(place)
    for (;;) {
      const { kvs, more } = await pageFrom(etcd, { key: from, range_end: end }, signal)
      for (const { key, value } of kvs) {
        if (Buffer.from(value, 'base64').subarray(0, mark.length).equals(mark)) found.push(text(key))
      }
      const last = kvs.at(-1)
      if (!more || last === undefined) break
      // The next one is the one with a zero byte more.
      from = Buffer.concat([Buffer.from(last.key, 'base64'), Buffer.of(0)]).toString('base64')
    }
  }
  return found
}

async function pageFrom(
  etcd: Pick<EtcdClient, 'read'>,
  range: object,
  signal: AbortSignal,
): Promise<z.infer<typeof page>> {
  let problem: unknown
  for (const limit of pageSizes) {
    try {
      return await etcd.read('kv/range', { ...range, limit: String(limit) }, page, { signal })
    } catch (error) {
      if (!isEtcdError(error, 'ETCD_UNREACHABLE')) throw error
      problem = error
    }
  }
  throw problem
}

function base64(key: string): string {
  return Buffer.from(key).toString('base64')
}

function text(key: string): string {
  return Buffer.from(key, 'base64').toString('utf8')
}
