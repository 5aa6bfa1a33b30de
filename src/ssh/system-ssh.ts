import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../kit/command.ts'
import { hasCode } from '../kit/errors.ts'
import { createRemote } from './create-remote.ts'
import { startDeadline } from './deadline.ts'
import type { Hop } from './hop.ts'
import { pinnedAlgorithms } from './host-key-format.ts'
import { type ConnectOptions, type ConnectSettings, resolveConnectSettings } from './options.ts'
import type { Remote } from './remote.ts'
import type { SshRoute } from './ssh-route.ts'
import { buildSystemConfig, chooseHostKeyAlias, hopName } from './system-config.ts'
import {
  buildMasterTimeoutError,
  englishEnvironment,
  explainConnectionFailure,
  type KeepOpenProgram,
  keepOpenWithShell,
  masterTimeoutMs,
  openMaster,
} from './system-master.ts'
import { createSystemTransport } from './system-transport.ts'
import { encodePacket, sftpRequests } from './windows/packet.ts'
import { createWindowsRemote } from './windows/windows-remote.ts'

export interface SystemSshOptions extends ConnectOptions {
  /** Path of the operator's ~/.ssh/config; undefined if it does not exist. */
  readonly include?: string | undefined
  /** Parent of the temporary directory for configuration and control socket. */
  readonly temporary?: string
}

/**
 * Connects with the ssh program of the operator's machine. This program supports hardware tokens, Kerberos,
 * ProxyCommand and other features that the built-in client lacks.
 */
export async function connectWithSystemSsh(reach: SshRoute, options: SystemSshOptions): Promise<Remote> {
  const settings = resolveConnectSettings(reach.name, options)
  const directory = await mkdtemp(join(options.temporary ?? tmpdir(), 'hyperkube-ssh-'))
  const removeDirectory = async (): Promise<void> => rm(directory, { recursive: true, force: true })
  const hops = [...reach.bastions, reach]
  const files = {
    config: join(directory, 'config'),
    knownHosts: join(directory, 'known'),
    control: join(directory, 'control'),
  }
  const aliases = hops.map((hop, index) => chooseHostKeyAlias(hop, index, needsCertificate(settings, hop)))
  const route: SystemRoute = { ...files, reach, hops, aliases, settings }
  try {
    await writeFile(
      files.config,
      buildSystemConfig({ ...settings, ...files, hops, aliases, include: options.include }),
    )
    // Host keys are read one after the other, because a machine behind a bastion is reachable only after the
    // bastion's key is known.
    for (const [index, hop] of hops.entries()) await writeKnownHost(route, index, hop)
    const destination = { config: files.config, name: hopName(hops, hops.length - 1) }
    const { windows } = options
    const keepOpen = windows === undefined ? keepOpenWithShell : keepOpenWithSftp
    const master = await openMaster(reach, destination, settings, keepOpen)
    const transport = createSystemTransport(reach, destination, master, removeDirectory)
    return windows === undefined ? createRemote(transport) : createWindowsRemote(transport, windows)
  } catch (error) {
    try {
      if (hasCode(error, 'SSH_HOST_KEY_CHANGED')) await verifyChangedKey(route)
      throw error
    } finally {
      await removeDirectory()
    }
  }
}

/**
 * Keeps the shared connection open with the sftp server, which runs as long as its standard input is open. A
 * command would depend on the host's shell.
 */
const keepOpenWithSftp: KeepOpenProgram = {
  args: (name) => ['-s', name, 'sftp'],
  initialInput: encodePacket(sftpRequests.init, 3),
  // Any version packet shows readiness. Its first five bytes are the length and the type.
  isReady: (output) => output.length >= 5,
}

/** Writes the accepted host keys of a machine to known_hosts. ssh accepts no other keys. */
async function writeKnownHost(route: SystemRoute, index: number, hop: Hop): Promise<void> {
  const write = async (lines: readonly string[]): Promise<void> =>
    writeFile(route.knownHosts, lines.map((line) => `${line}\n`).join(''), { flag: 'a' })
  const alias = route.aliases[index]
  if (needsCertificate(route.settings, hop)) {
    const { cas, revoked } = route.settings.hostCas(hop)
    await write([
      ...cas.map((key) => `@cert-authority ${alias} ${key}`),
      ...revoked.map((key) => `@revoked ${alias} ${key}`),
    ])
    if (await hasValidCertificate(route, index)) return
  }
  const pinned = route.settings.pinned(hop)
  const keys = pinned.length > 0 ? pinned : [await readVerifiedKey(route, index, hop)]
  await write(keys.map((key) => `${alias} ${key}`))
}

/**
 * True if a CA decides about the host key of a machine. A pinned key has precedence over a CA, so that a
 * different key is reported as changed.
 */
function needsCertificate({ pinned, hostCas }: ConnectSettings, hop: Hop): boolean {
  return hop.hostKey === undefined && pinned(hop).length === 0 && hostCas(hop).cas.length > 0
}

/** Checks the certificate of a machine with the ssh program, without offering any of the operator's keys. */
async function hasValidCertificate(route: SystemRoute, index: number): Promise<boolean> {
  const stderr = await runWithoutKeys(route, index, [])
  if (/Host key verification failed/.test(stderr)) return false
  if (/Permission denied|Authenticated to/.test(stderr)) return true
  throw await explainConnectionFailure(stderr, route.reach, route.settings)
}

async function readVerifiedKey(route: SystemRoute, index: number, hop: Hop): Promise<string> {
  const key = await readHostKey(route, index)
  await route.settings.verify(key, hop)
  return key
}

/**
 * Reads the host keys again and passes changed keys to `verify`, which throws a precise error. ssh only
 * reports that a key is wrong.
 */
async function verifyChangedKey(route: SystemRoute): Promise<void> {
  for (const [index, hop] of route.hops.entries()) {
    const key = await readHostKey(route, index)
    if (!route.settings.pinned(hop).includes(key)) await route.settings.verify(key, hop)
  }
}

/** A route of the ssh program and its configuration files. */
interface SystemRoute {
  readonly reach: SshRoute
  /** All machines on the route. The host is the last one. */
  readonly hops: readonly Hop[]
  /** Name of each machine in the known_hosts file. */
  readonly aliases: readonly string[]
  readonly config: string
  readonly knownHosts: string
  readonly settings: ConnectSettings
}

/** Reads the host key of a machine with the ssh program, without offering any of the operator's keys. */
async function readHostKey(route: SystemRoute, index: number): Promise<string> {
  const { reach, hops, settings } = route
  const file = `${route.knownHosts}.${index}`
  const kinds = pinnedAlgorithms(settings.likely(hops[index] ?? reach))
  const stderr = await runWithoutKeys(route, index, [
    'StrictHostKeyChecking=accept-new',
    `UserKnownHostsFile="${file}"`,
    ...(kinds.length === 0 ? [] : [`HostKeyAlgorithms=^${kinds.join(',')}`]),
  ])
  const text = await readFile(file, 'utf8').catch(() => '')
  const alias = route.aliases[index] ?? ''
  const line = text.split('\n').find((one) => one.startsWith(`${alias} `))
  if (line === undefined) throw await explainConnectionFailure(stderr, reach, settings)
  return line.slice(alias.length + 1)
}

/** Runs ssh up to the login, without offering a key. Returns its messages. */
async function runWithoutKeys(
  { reach, hops, settings, config }: SystemRoute,
  index: number,
  overrides: readonly string[],
): Promise<string> {
  const all = [...overrides, 'PreferredAuthentications=none', 'ControlPath=none']
  const options = ['-F', config, ...all.flatMap((text) => ['-o', text])]
  const limit = startDeadline(settings.signal, masterTimeoutMs(reach, settings), () =>
    buildMasterTimeoutError(reach, settings),
  )
  const { stderr } = await runProgram(['ssh', ...options, hopName(hops, index), 'true'], {
    signal: limit.signal,
    env: englishEnvironment(),
    allowFailure: true,
  }).finally(() => limit.clear())
  return stderr
}
