import { type Bastions, openBastions } from './bastions.ts'
import { createBuiltInTransport } from './built-in-transport.ts'
import { logIn } from './login.ts'
import { type ConnectOptions, resolveConnectSettings } from './options.ts'
import type { SshRoute } from './ssh-route.ts'
import { createRemote } from './create-remote.ts'
import type { Remote } from './remote.ts'
import { createWindowsRemote } from './windows/windows-remote.ts'

export interface BuiltInConnectOptions extends ConnectOptions {
  /** Shared bastion connections. The caller closes them. */
  readonly bastions?: Bastions
}

/** Connects to a host with the built-in ssh client, which needs no installed program. */
export async function connectBuiltIn(reach: SshRoute, options: BuiltInConnectOptions): Promise<Remote> {
  const settings = resolveConnectSettings(reach.name, options)
  const bastions = options.bastions ?? openBastions()
  const release = (): void => {
    if (options.bastions === undefined) bastions.close()
  }
  try {
    const socket = await bastions.through(reach.bastions, reach, settings)
    const link = await logIn(reach, socket, settings)
    const transport = createBuiltInTransport(link, reach, release)
    return options.windows === undefined
      ? createRemote(transport)
      : createWindowsRemote(transport, options.windows)
  } catch (error) {
    release()
    throw error
  }
}
