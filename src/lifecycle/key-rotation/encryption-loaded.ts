import { createHash } from 'node:crypto'
import type { KubeClient } from '../../kube/client.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Secret } from '../../pki/secret.ts'
import { type Patience, waitPatiently } from './poll.ts'

/** API servers look at the file once a minute. */
const within = 300_000
const metric = /^apiserver_encryption_config_controller_last_config_info\{[^}]*\bhash="([^"]*)"/m

/** Waits until every API server works with this configuration of encryption: each says the digest of the one it has. */
export async function encryptionLoaded(
  api: KubeClient,
  configuration: Secret,
  patience: Patience,
): Promise<void> {
  const { signal } = patience
  const wanted = `sha256:${createHash('sha256').update(configuration.reveal()).digest('hex')}`
  const lacks = async (server: string): Promise<boolean> =>
    metric.exec(await api.text({ method: 'GET', path: '/metrics', server, signal }))?.[1] !== wanted
  await waitPatiently(
    // Each look reads a long page of every server.
    { every: 2000, ...patience },
    within,
    async () => {
      for (const server of api.servers) {
        if (await lacks(server)) return `${new URL(server).hostname} to read its configuration of encryption`
      }
      return undefined
    },
    (reason) =>
      new HyperkubeError('KEYS_NOT_LOADED', `waited five minutes for ${reason}`, {
        hint: 'on that host: journalctl -u kube-apiserver | grep encryption; then the same command again',
      }),
  )
}
