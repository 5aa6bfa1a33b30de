import { posix, win32 } from 'node:path'
import type { UserEnvironment } from './config-directory.ts'

/** The operator's state directory, for logs and histories. Throws if the operator has no home. */
export function findStateDirectory({ platform, env, home }: UserEnvironment): string {
  const path = platform === 'win32' ? win32 : posix
  const configured = env[platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_STATE_HOME']
  if (configured !== undefined && path.isAbsolute(configured)) return configured
  return platform === 'win32' ? path.join(home(), 'AppData', 'Local') : path.join(home(), '.local', 'state')
}
