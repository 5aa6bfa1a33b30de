import { createHash } from 'node:crypto'
import type { KubeClient } from '../../kube/client.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { waitWatchfully, type Watchful } from '../../kit/wait-watchfully.ts'
import type { Secret } from '../../pki/secret.ts'

/** API servers look at the file once a minute. */
const within = 300_000
const metric = /^apiserver_encryption_config_controller_last_config_info\{[^}]*\bhash="([^"]*)"/m

/** How somebody waits, and hears what for. */
export interface Patience extends Pick<Watchful, 'tell' | 'now' | 'signal'> {
  /** Milliseconds between two looks, where that is not the usual time. */
  readonly every?: number
}

/** Waits until every API server works with this configuration of encryption: each says the digest of the one it has. */
export async function encryptionLoaded(
  api: KubeClient,
  configuration: Secret,
  { tell, now, signal, every = 2000 }: Patience,
): Promise<void> {
  const wanted = `sha256:${createHash('sha256').update(configuration.reveal()).digest('hex')}`
  const lacks = async (server: string): Promise<boolean> =>
    metric.exec(await api.text({ method: 'GET', path: '/metrics', server, signal }))?.[1] !== wanted
  await waitWatchfully(
    async () => {
      for (const server of api.servers) {
        if (await lacks(server)) return `${new URL(server).hostname} to read its configuration of encryption`
      }
      return undefined
    },
    {
      tell,
      late: (reason) =>
        new HyperkubeError('KEYS_NOT_LOADED', `waited five minutes for ${reason}`, {
          hint: 'on that host: journalctl -u kube-apiserver | grep encryption; then the same command again',
        }),
      now,
      deadline: now().getTime() + within,
      every,
      signal,
    },
  )
}
