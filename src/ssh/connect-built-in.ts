import { type Bastions, openBastions } from './bastions.ts'
import { linkTransport } from './built-in-transport.ts'
import { logIn } from './login.ts'
import { type ConnectOptions, settingsOf } from './options.ts'
import type { Reach } from './ssh-route.ts'
import { remoteOver } from './create-remote.ts'
import type { Remote } from './remote.ts'
import { windowsRemote } from './windows/windows-remote.ts'

export interface OwnConnectOptions extends ConnectOptions {
  /** Connections to be shared with other hosts, which the caller closes. */
  readonly bastions?: Bastions
}

/** Logs in to a host, by an ssh of our own: nothing has to be installed for it. */
export async function connect(reach: Reach, options: OwnConnectOptions): Promise<Remote> {
  const settings = settingsOf(reach.name, options)
  const bastions = options.bastions ?? openBastions()
  const release = (): void => {
    if (options.bastions === undefined) bastions.close()
  }
  try {
    const socket = await bastions.through(reach.bastions, reach, settings)
    const link = await logIn(reach, socket, settings)
    const transport = linkTransport(link, reach, release)
    return options.windows === undefined ? remoteOver(transport) : windowsRemote(transport, options.windows)
  } catch (error) {
    release()
    throw error
  }
}
