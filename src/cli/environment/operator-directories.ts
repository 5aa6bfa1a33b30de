import { posix, win32 } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'

export interface UserEnvironment {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
  /** Returns the home directory. Throws if the user has no home directory. */
  readonly home: () => string
}

/** The operator's configuration directory, for data that must be kept. */
export function findConfigDirectory({ platform, env, home }: UserEnvironment): string {
  const path = platform === 'win32' ? win32 : posix
  const configured = env[platform === 'win32' ? 'APPDATA' : 'XDG_CONFIG_HOME']
  // The XDG specification requires that relative paths are ignored. They would depend on the working
  // directory.
  if (configured !== undefined && path.isAbsolute(configured)) return configured
  return platform === 'win32'
    ? path.join(requireHome(home), 'AppData', 'Roaming')
    : path.join(requireHome(home), '.config')
}

function requireHome(home: () => string): string {
  try {
    return home()
  } catch (cause) {
    throw new HyperkubeError('NO_HOME', 'your user has no home directory, where keys are stored by default', {
      hint: 'use a key file elsewhere: --key FILE',
      cause,
    })
  }
}

/**
 * The operator's cache directory, for data that can be fetched again. Throws if the operator has no home
 * directory.
 */
export function findCacheDirectory({ platform, env, home }: UserEnvironment): string {
  const path = platform === 'win32' ? win32 : posix
  const configured = env[platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_CACHE_HOME']
  if (configured !== undefined && path.isAbsolute(configured)) return configured
  return platform === 'win32' ? path.join(home(), 'AppData', 'Local') : path.join(home(), '.cache')
}

/** The operator's state directory, for logs and histories. Throws if the operator has no home directory. */
export function findStateDirectory({ platform, env, home }: UserEnvironment): string {
  const path = platform === 'win32' ? win32 : posix
  const configured = env[platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_STATE_HOME']
  if (configured !== undefined && path.isAbsolute(configured)) return configured
  return platform === 'win32' ? path.join(home(), 'AppData', 'Local') : path.join(home(), '.local', 'state')
}
