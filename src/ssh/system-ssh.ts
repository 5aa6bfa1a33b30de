import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../kit/errors.ts'
import { hostKeyShown, type Way } from './read-host-key.ts'
import { type ConnectOptions, settingsOf } from './options.ts'
import type { Hop, Reach } from './ssh-route.ts'
import { remoteOver } from './create-remote.ts'
import type { Remote } from './remote.ts'
import { keyAlias, nameIn, systemConfig } from './system-config.ts'
import { openMaster, shellVigil } from './system-master.ts'
import { systemTransport } from './system-transport.ts'
import { sftpVigil } from './windows/keep-open-with-sftp.ts'
import { windowsRemote } from './windows/windows-remote.ts'

export interface SystemSshOptions extends ConnectOptions {
  /** The operator's own settings of ssh, where they have any: ~/.ssh/config. */
  readonly include?: string | undefined
  /** Where a directory of our own is made. */
  readonly temporary?: string
}

/** A host by this machine's own ssh program: hardware tokens, Kerberos, ProxyCommand, all that it knows and we do not. */
export async function systemSsh(reach: Reach, options: SystemSshOptions): Promise<Remote> {
  const settings = settingsOf(reach.name, options)
  const directory = await mkdtemp(join(options.temporary ?? tmpdir(), 'hyperkube-ssh-'))
  const clear = async (): Promise<void> => rm(directory, { recursive: true, force: true })
  const hops = [...reach.bastions, reach]
  const files = {
    config: join(directory, 'config'),
    knownHosts: join(directory, 'known'),
    control: join(directory, 'control'),
  }
  const way: Way = { ...files, reach, hops, settings }
  try {
    await writeFile(files.config, systemConfig({ ...settings, ...files, hops, include: options.include }))
    // One after the other: behind a machine there is a way only once that one is known.
    for (const [index, hop] of hops.entries()) await introduce(way, index, hop)
    const destination = { config: files.config, name: nameIn(hops, hops.length - 1) }
    const { windows } = options
    const vigil = windows === undefined ? shellVigil : sftpVigil
    const master = await openMaster(reach, destination, settings, vigil)
    const transport = systemTransport(reach, destination, master, clear)
    return windows === undefined ? remoteOver(transport) : windowsRemote(transport, windows)
  } catch (error) {
    try {
      if (hasCode(error, 'SSH_HOST_KEY_CHANGED')) await explainChange(way)
      throw error
    } finally {
      await clear()
    }
  }
}

/** Writes down which keys of a machine are right. From then on the program takes no other. */
async function introduce(way: Way, index: number, hop: Hop): Promise<void> {
  const pinned = way.settings.pinned(hop)
  const keys = pinned.length > 0 ? pinned : [await accepted(way, index, hop)]
  const lines = keys.map((key) => `${keyAlias(index)} ${key}\n`)
  await writeFile(way.knownHosts, lines.join(''), { flag: 'a' })
}

async function accepted(way: Way, index: number, hop: Hop): Promise<string> {
  const key = await hostKeyShown(way, index)
  await way.settings.verify(key, hop)
  return key
}

/** The program only says that a key is wrong; what to make of the one it saw is the caller's to say. */
async function explainChange(way: Way): Promise<void> {
  for (const [index, hop] of way.hops.entries()) {
    const key = await hostKeyShown(way, index)
    if (!way.settings.pinned(hop).includes(key)) await way.settings.verify(key, hop)
  }
}
