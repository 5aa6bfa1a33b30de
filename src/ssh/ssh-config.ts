import { type Line, LineType, parse, type SSHConfig } from 'ssh-config'
import { describe, HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'

/** What ~/.ssh/config says of one host, as far as we follow it. */
export interface ConfiguredHost {
  readonly hostName?: string | undefined
  readonly port?: number | undefined
  readonly user?: string | undefined
  readonly identityFiles: readonly string[]
  readonly identitiesOnly: boolean
  readonly identityAgent?: string | undefined
  readonly proxyJump?: string | undefined
  readonly proxyCommand?: string | undefined
}

export interface SshConfig {
  readonly lookup: (alias: string) => ConfiguredHost
}

/** An operator without ~/.ssh/config. */
export const noSshConfig: SshConfig = { lookup: () => ({ identityFiles: [], identitiesOnly: false }) }

/** Reads the text of ~/.ssh/config. Includes must have been put in their places. */
export function parseSshConfig(text: string): SshConfig {
  const config = guarded(() => withoutPrograms(parse(text)))
  return { lookup: (alias) => guarded(() => lookup(config, alias)) }
}

function lookup(config: SSHConfig, alias: string): ConfiguredHost {
  // What `Match exec` would run, we do not run: reading a file must do nothing else.
  const values = config.compute(alias, { ignoreCase: true, matchExec: false })
  const first = (name: string): string | undefined => [values[name]].flat()[0]
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
    // Of the two ssh follows the one that stands first; whoever has both mostly means the jump.
    proxyCommand: unlessNone(proxyJump) === undefined ? unlessNone(first('proxycommand')) : undefined,
  }
}

function unlessNone(value: string | undefined): string | undefined {
  return value?.toLowerCase() === 'none' ? undefined : value
}

/** The library asks the resolver, by a program, about names that shall be made canonical. */
function withoutPrograms(config: SSHConfig): SSHConfig {
  for (const line of config) {
    if (line.type === LineType.DIRECTIVE && 'config' in line) line.config = withoutPrograms(line.config)
  }
  const kept = config.filter((line) => !canonicalizes(line))
  config.splice(0, config.length, ...kept)
  return config
}

function canonicalizes(line: Line): boolean {
  return line.type === LineType.DIRECTIVE && /^Canonical/i.test(line.param)
}

function guarded<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof HyperkubeError) throw cause
    const reason = printable(describe(cause))
    throw new HyperkubeError('SSH_CONFIG_NOT_READ', `~/.ssh/config cannot be read: ${reason}`, {
      hint: 'ssh -G localhost shows where ssh itself stumbles',
    })
  }
}
