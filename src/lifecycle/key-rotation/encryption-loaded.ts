import { createHash } from 'node:crypto'
import type { KubeClient } from '../../kube/client.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Secret } from '../../pki/secret.ts'
import { type RotationWaitOptions, pollRotation } from './poll.ts'

/** API servers read the configuration file only once a minute. */
const timeoutMs = 300_000
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
    { every: 2000, ...wait },
    timeoutMs,
    async () => {
      for (const server of api.servers) {
        if (await isOutdated(server))
          return `${new URL(server).hostname} to read its configuration of encryption`
      }
      return undefined
    },
    (reason) =>
      new HyperkubeError('KEYS_NOT_LOADED', `waited five minutes for ${reason}`, {
        hint: 'on that host: journalctl -u kube-apiserver | grep encryption; then the same command again',
      }),
  )
}
