import { posix, win32 } from 'node:path'
import type { Surroundings } from './config-directory.ts'

/** Where programs of this person keep what they can have again. Throws where there is no such place. */
export function cacheDirectory({ platform, env, home }: Surroundings): string {
  const path = platform === 'win32' ? win32 : posix
  const named = env[platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_CACHE_HOME']
  if (named !== undefined && path.isAbsolute(named)) return named
  return platform === 'win32' ? path.join(home(), 'AppData', 'Local') : path.join(home(), '.cache')
}
