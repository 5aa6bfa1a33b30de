import { z } from 'zod'
import type { EtcdClient } from '../../etcd/client.ts'
import { isEtcdError } from '../../etcd/etcd-error.ts'

/** etcd key prefixes of the resources that are encrypted. */
const prefixes = ['/registry/secrets/', '/registry/configmaps/'] as const
/** Page sizes in the order of attempts. A smaller one is used if large objects make the response too long. */
const pageSizes = [200, 20, 1] as const

const pair = z.looseObject({ key: z.base64(), value: z.base64().default('') })
const page = z.looseObject({ kvs: z.array(pair).default([]), more: z.boolean().default(false) })

/**
 * Finds all etcd keys whose value is encrypted with the named encryption key. Each encrypted value begins
 * with the name of that key.
 */
export async function findEncryptedWith(
  etcd: Pick<EtcdClient, 'read'>,
  name: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const valuePrefix = Buffer.from(`k8s:enc:secretbox:v1:${name}:`)
  const found: string[] = []
  for (const prefix of prefixes) {
    const end = base64(`${prefix.slice(0, -1)}0`)
    let from = base64(prefix)
    for (;;) {
      const { kvs, more } = await pageFrom(etcd, { key: from, range_end: end }, signal)
      for (const { key, value } of kvs) {
        if (Buffer.from(value, 'base64').subarray(0, valuePrefix.length).equals(valuePrefix))
          found.push(text(key))
      }
      const last = kvs.at(-1)
      if (!more || last === undefined) break
      // The next page starts at the last key plus a zero byte, which is the smallest key after it.
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
