import { join } from 'node:path'
import { fetchPackage } from '../../scripts/executable.ts'
import type { Argv } from '../../src/kit/command.ts'
import { quote } from '../../src/kit/shell.ts'
import { keep } from '../cache.ts'
import type { Report } from '../report.ts'
import type { Wine } from './wine.ts'

/** Of the one that follows Windows PowerShell 5.1, which is part of Windows and is to be had nowhere else. */
export const powershellVersion = '7.6.2'

/** Microsoft's program in a package of somebody else: only the very bytes that were looked at once. */
const integrity =
  'sha512-M/giS/cVNMxiPcWJnfu6FxWrBrbBWiAPRAfH9PkrDtb7fYZ9i31MLiBzGS/u7vZnoEytdKbGIZdMa+mn7cLOBQ=='

export async function powershellForWindows(cache: string, report: Report): Promise<string> {
  const name = `likecu-powershell-win10@${powershellVersion}`
  const directory = await keep(join(cache, 'wine', name), async (unfinished) =>
    report.step(`fetch ${name}`, async () => fetchPackage(name, unfinished, unfinished, integrity)),
  )
  return join(directory, 'package/pwsh/pwsh.exe')
}

/** What .NET needs in Wine, names of files in all letters, and what keeps PowerShell from asking its makers for anything. */
const env = {
  LC_ALL: 'C.UTF-8',
  DOTNET_EnableWriteXorExecute: '0',
  DOTNET_EnableEventPipe: '0',
  DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1',
  POWERSHELL_TELEMETRY_OPTOUT: '1',
  POWERSHELL_UPDATECHECK: 'Off',
}

/** PowerShell in Wine, without a network, as a command of this machine that is spoken to by pipes. */
export function powershellInWine(
  { command }: Pick<Wine, 'command'>,
  program: string,
  args: readonly string[],
): Argv {
  return inConsole(['unshare', '--net', ...command([program, ...args], env)])
}

/**
 * Without a console PowerShell ends in Wine before it begins. It has one where it complains, on standard error; its input
 * and output are those that are given. Its end is that of whoever is killed for it.
 */
function inConsole(argv: Argv): Argv {
  const line = `exec setpriv --pdeathsig KILL ${argv.map(quote).join(' ')} <&3 >&4`
  const shell = 'exec 3<&0 4>&1; exec env SHELL=/bin/sh script -qefc "$0" /dev/null </dev/null >&2'
  return ['sh', '-c', shell, line]
}
