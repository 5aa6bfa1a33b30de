import { userInfo } from 'node:os'
import { processChannel } from './process-channel.ts'
import { remoteOver } from './remote-over.ts'
import type { Remote } from './remote.ts'

/** This machine itself, as a host: `local: true` in cluster.yml. */
export function localRemote(host: string): Remote {
  return remoteOver({
    host,
    user: userInfo().username,
    start: async (argv, signal) => {
      signal.throwIfAborted()
      return processChannel(argv)
    },
    close: async () => undefined,
  })
}
