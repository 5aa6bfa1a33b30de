import { join } from 'node:path'
import { fetchPackage } from '../../scripts/npm-package.ts'
import type { Argv } from '../../src/kit/command.ts'
import { quoteShell } from '../../src/kit/text.ts'
import { ensureCached } from '../cache.ts'
import type { Report } from '../report.ts'
import type { Wine } from './wine.ts'

/**
 * Version of PowerShell for Wine. Its predecessor, Windows PowerShell 5.1, is part of Windows and not
 * available separately.
 */
export const powershellVersion = '7.6.2'

/**
 * Hash of the reviewed package. Any other content is refused, because a third party packages Microsoft's
 * program.
 */
const integrity =
  'sha512-M/giS/cVNMxiPcWJnfu6FxWrBrbBWiAPRAfH9PkrDtb7fYZ9i31MLiBzGS/u7vZnoEytdKbGIZdMa+mn7cLOBQ=='

export async function fetchWindowsPowershell(cache: string, report: Report): Promise<string> {
  const pinned = { name: 'likecu-powershell-win10', version: powershellVersion, integrity }
  const id = `${pinned.name}@${pinned.version}`
  const directory = await ensureCached(join(cache, 'wine', id), async (unfinished) =>
    report.step(`fetch ${id}`, async () => fetchPackage(pinned, unfinished, unfinished)),
  )
  return join(directory, 'package/pwsh/pwsh.exe')
}

/**
 * Environment variables that .NET needs in Wine, that set UTF-8 for file names, and that disable telemetry
 * and update checks of PowerShell.
 */
const environment = {
  LC_ALL: 'C.UTF-8',
  DOTNET_EnableWriteXorExecute: '0',
  DOTNET_EnableEventPipe: '0',
  DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1',
  POWERSHELL_TELEMETRY_OPTOUT: '1',
  POWERSHELL_UPDATECHECK: 'Off',
}

/** Builds the command that runs PowerShell in Wine, without a network, with pipes as input and output. */
export function buildPowershellCommand(
  { command }: Pick<Wine, 'command'>,
  program: string,
  args: readonly string[],
): Argv {
  return wrapInConsole(['unshare', '--net', ...command([program, ...args], environment)])
}

/**
 * Gives PowerShell a console, without which it exits at once in Wine. `script` provides the console on
 * standard error; standard input and output are passed through. PowerShell is killed when the caller kills
 * the command.
 */
function wrapInConsole(argv: Argv): Argv {
  const line = `exec setpriv --pdeathsig KILL ${argv.map(quoteShell).join(' ')} <&3 >&4`
  const shell = 'exec 3<&0 4>&1; exec env SHELL=/bin/sh script -qefc "$0" /dev/null </dev/null >&2'
  return ['sh', '-c', shell, line]
}
