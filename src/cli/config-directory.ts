import { posix, win32 } from 'node:path'
import { HyperkubeError } from '../kit/errors.ts'

export interface Surroundings {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
  /** Throws where there is none. */
  readonly home: () => string
}

/** Where programs of this person keep what they must remember. */
export function configDirectory({ platform, env, home }: Surroundings): string {
  const path = platform === 'win32' ? win32 : posix
  const named = env[platform === 'win32' ? 'APPDATA' : 'XDG_CONFIG_HOME']
  // A relative one would lead elsewhere from every directory, and the standard says to pass over it.
  if (named !== undefined && path.isAbsolute(named)) return named
  return platform === 'win32'
    ? path.join(found(home), 'AppData', 'Roaming')
    : path.join(found(home), '.config')
}

function found(home: () => string): string {
  try {
    return home()
  } catch (cause) {
    throw new HyperkubeError('NO_HOME', 'you have no home directory to keep keys in', {
      hint: '--key names a file elsewhere',
      cause,
    })
  }
}
