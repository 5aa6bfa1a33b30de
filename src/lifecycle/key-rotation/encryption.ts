import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { EtcdClient } from '../../etcd/client.ts'
import { isEtcdError } from '../../etcd/etcd-error.ts'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { createUntypedKind, type Kind, type KubeObject } from '../../kube/object.ts'
import { findObject, listObjectPages } from '../../kube/read-objects.ts'
import { replaceObject } from '../../kube/write-objects.ts'
import type { Secret } from '../../pki/secret.ts'
import { pollRotation, type RotationWaitOptions } from './poll.ts'

/** etcd key prefixes of the resources that are encrypted. */
const prefixes = ['/registry/secrets/', '/registry/configmaps/'] as const
/**
 * Page sizes in the order of attempts. A smaller size is used if large objects make the response too long.
 */
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
    const end = encodeBase64(`${prefix.slice(0, -1)}0`)
    let from = encodeBase64(prefix)
    for (;;) {
      const { kvs, more } = await pageFrom(etcd, { key: from, range_end: end }, signal)
      for (const { key, value } of kvs) {
        if (Buffer.from(value, 'base64').subarray(0, valuePrefix.length).equals(valuePrefix))
          found.push(decodeText(key))
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

function encodeBase64(key: string): string {
  return Buffer.from(key).toString('base64')
}

function decodeText(key: string): string {
  return Buffer.from(key, 'base64').toString('utf8')
}

/**
 * Longest wait until all API servers use a new encryption configuration. It is long, because they read the
 * file only once a minute.
 */
const loadTimeoutMs = 300_000
const metric = /^apiserver_encryption_config_controller_last_config_info\{[^}]*\bhash="([^"]*)"/m

/**
 * Waits until every API server uses this encryption configuration. Each server exposes the digest of its
 * configuration as a metric.
 */
export async function waitForEncryptionLoaded(
  api: KubeClient,
  configuration: Secret,
  wait: RotationWaitOptions,
): Promise<void> {
  const { signal } = wait
  const wanted = `sha256:${createHash('sha256').update(configuration.reveal()).digest('hex')}`
  const isOutdated = async (server: string): Promise<boolean> =>
    metric.exec(await api.text({ method: 'GET', path: '/metrics', server, signal }))?.[1] !== wanted
  await pollRotation(
    // The poll interval is longer than usual, because each poll reads the long metrics page of every server.
    { ...wait, intervalMs: 2000 },
    loadTimeoutMs,
    async () => {
      for (const server of api.servers) {
        if (await isOutdated(server))
          return `${new URL(server).hostname} to load its encryption configuration`
      }
      return undefined
    },
    (reason) =>
      new HyperkubeError('KEYS_NOT_LOADED', `waited five minutes for ${reason}`, {
        hint: 'on that host: journalctl -u kube-apiserver | grep encryption; then run the same command again',
      }),
  )
}

/** Resources that are encrypted in etcd. The encryption configuration lists the same resources. */
export const encryptedKinds: readonly Kind[] = [
  createUntypedKind('v1', 'Secret'),
  createUntypedKind('v1', 'ConfigMap'),
]

/**
 * Number of objects per page of a list. It is small, because a single object may have a size of one megabyte.
 */
const pageSize = 100
const maxConcurrent = 8

export interface RewriteOptions {
  /** Called after each page with the number of objects written so far. */
  readonly progress: (written: number) => void
  readonly signal: AbortSignal
}

/**
 * Writes every object of the given kinds unchanged, so that it is encrypted with the current key. Objects
 * that already use this key are skipped by the API, so a second run is cheap. Returns the number of objects.
 */
export async function rewriteObjects(
  api: KubeClient,
  kinds: readonly Kind[],
  { progress, signal }: RewriteOptions,
): Promise<number> {
  let written = 0
  for (const kind of kinds) {
    for await (const items of listPages(api, kind, signal)) {
      const done = await mapWithConcurrency(maxConcurrent, items, async (item) =>
        rewriteObject(api, kind, item, signal),
      )
      written += done.filter((was) => was).length
      progress(written)
    }
  }
  return written
}

/**
 * Yields the objects page by page. If etcd has compacted the revision of the pages, yields one complete list
 * instead.
 */
async function* listPages(
  api: KubeClient,
  kind: Kind,
  signal: AbortSignal,
): AsyncGenerator<readonly KubeObject[]> {
  try {
    for await (const { items } of listObjectPages(api, kind, { signal }, pageSize)) yield items
  } catch (error) {
    if (!isKubeError(error, 'KUBE_EXPIRED')) throw error
    for await (const { items } of listObjectPages(api, kind, { signal }, undefined)) yield items
  }
}

/**
 * Writes one object unchanged; after a conflict reads it and tries again. Returns false if the object no
 * longer exists.
 */
async function rewriteObject(
  api: KubeClient,
  kind: Kind,
  first: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  let object: KubeObject | undefined = first
  while (object !== undefined) {
    try {
      await replaceObject(api, object, { signal })
      return true
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_NOT_FOUND')) throw error
      const { namespace, name, uid } = first.metadata
      const now: KubeObject | undefined = await findObject(api, kind, { namespace, name }, { signal })
      // An object with another uid was created after the key change, so it already uses the new key.
      object = now?.metadata.uid === uid ? now : undefined
    }
  }
  return false
}
