import { glob, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Line, LineType, parse, type SSHConfig } from 'ssh-config'
import { formatError, hasCode, HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'

/** The settings of one host in ~/.ssh/config that hyperkube supports. */
export interface ConfiguredHost {
  readonly hostName?: string | undefined
  readonly port?: number | undefined
  readonly user?: string | undefined
  readonly identityFiles: readonly string[]
  readonly identitiesOnly: boolean
  readonly identityAgent?: string | undefined
  readonly proxyJump?: string | undefined
  readonly proxyCommand?: string | undefined
  /** Name in known_hosts, instead of the address. */
  readonly hostKeyAlias?: string | undefined
  /** Undefined for the default files of ssh. */
  readonly userKnownHostsFiles?: readonly string[] | undefined
  readonly globalKnownHostsFiles?: readonly string[] | undefined
}

export interface SshConfig {
  readonly lookup: (alias: string) => ConfiguredHost
}

/** Configuration of an operator without ~/.ssh/config. */
export const noSshConfig: SshConfig = { lookup: () => ({ identityFiles: [], identitiesOnly: false }) }

/** Reads ~/.ssh/config with its includes. Returns an empty configuration if the file does not exist. */
export async function readSshConfig(home: string): Promise<SshConfig> {
  const text = await readWithIncludes(join(home, '.ssh/config'), home, 0)
  return text === '' ? noSshConfig : parseSshConfig(text)
}

/** Maximum include depth, as in ssh. */
const maxDepth = 16

async function readWithIncludes(path: string, home: string, depth: number): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    // Unreadable files are skipped, as in ssh.
    if (['ENOENT', 'EACCES', 'EISDIR'].some((code) => hasCode(error, code))) return ''
    throw error
  })
  if (depth >= maxDepth) return text
  const lines = text.split('\n').map(async (line) => {
    const patterns = parseInclude(line)
    if (patterns === undefined) return line
    const files = (await Promise.all(patterns.map(async (pattern) => expandGlob(pattern, home)))).flat()
    const texts = files.map(async (file) => readWithIncludes(file, home, depth + 1))
    return (await Promise.all(texts)).join('\n')
  })
  return (await Promise.all(lines)).join('\n')
}

/** Returns the file patterns of an Include line, and undefined for other lines. */
export function parseInclude(line: string): readonly string[] | undefined {
  const [, rest] = /^\s*include(?:\s*=\s*|\s+)(.*)$/i.exec(line) ?? []
  if (rest === undefined) return undefined
  return [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

async function expandGlob(pattern: string, home: string): Promise<readonly string[]> {
  const expanded = pattern.replace(/^~(?=\/)/, () => home)
  const full = resolve(home, '.ssh', expanded)
  return (await Array.fromAsync(glob(full))).toSorted()
}

/** Parses ~/.ssh/config. Includes must already be expanded. */
export function parseSshConfig(text: string): SshConfig {
  const config = withConfigError(() => removeCanonicalization(parse(text)))
  return { lookup: (alias) => withConfigError(() => lookup(config, alias)) }
}

function lookup(config: SSHConfig, alias: string): ConfiguredHost {
  // `Match exec` commands never run, because reading a file must have no side effects.
  const values = config.compute(alias, { ignoreCase: true, matchExec: false })
  const first = (name: string): string | undefined => [values[name]].flat()[0]
  const listFiles = (name: string): readonly string[] | undefined => {
    const value = values[name]
    return value === undefined ? undefined : [value].flat()
  }
  const port = Number(first('port'))
  const proxyJump = first('proxyjump')
  return {
    hostName: first('hostname'),
    port: Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined,
    user: first('user'),
    identityFiles: [values['identityfile'] ?? []].flat(),
    identitiesOnly: first('identitiesonly')?.toLowerCase() === 'yes',
    identityAgent: first('identityagent'),
    proxyJump,
    // If ProxyJump and ProxyCommand are both set, ssh uses the one that comes first. Here ProxyJump always
    // wins, because operators who set both usually mean ProxyJump.
    proxyCommand: ignoreNone(proxyJump) === undefined ? ignoreNone(first('proxycommand')) : undefined,
    hostKeyAlias: first('hostkeyalias'),
    userKnownHostsFiles: listFiles('userknownhostsfile'),
    globalKnownHostsFiles: listFiles('globalknownhostsfile'),
  }
}

function ignoreNone(value: string | undefined): string | undefined {
  return value?.toLowerCase() === 'none' ? undefined : value
}

/** Removes canonicalization settings, because the library would run a program to resolve canonical names. */
function removeCanonicalization(config: SSHConfig): SSHConfig {
  for (const line of config) {
    if (line.type === LineType.DIRECTIVE && 'config' in line)
      line.config = removeCanonicalization(line.config)
  }
  const remaining = config.filter((line) => !canonicalizes(line))
  config.splice(0, config.length, ...remaining)
  return config
}

function canonicalizes(line: Line): boolean {
  return line.type === LineType.DIRECTIVE && /^Canonical/i.test(line.param)
}

function withConfigError<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof HyperkubeError) throw cause
    const reason = toPrintable(formatError(cause))
    throw new HyperkubeError('SSH_CONFIG_NOT_READ', `cannot read ~/.ssh/config: ${reason}`, {
      hint: 'find the problem: ssh -G localhost',
    })
  }
}
