import { z } from 'zod'
import { changing, instant, looking, path } from './operation.ts'

const hostProcess = z
  .object({
    ProcessId: z.int(),
    ParentProcessId: z.int(),
    ExecutablePath: z.string(),
    CreationDate: instant,
  })
  .transform((raw) => ({
    id: raw.ProcessId,
    parent: raw.ParentProcessId,
    program: raw.ExecutablePath,
    startedAt: raw.CreationDate,
  }))
export type HostProcess = z.output<typeof hostProcess>

export const processes = {
  /** Those whose program lies below a directory. Names alone would be a guess: anybody may have a kubelet.exe. */
  list: looking({
    name: 'processes.list',
    input: z.strictObject({ below: path }),
    output: z.array(hostProcess),
    uses: ['Get-CimInstance'],
  }),
  /** Ends the very process that was seen: numbers are given again soon. One that is gone is no mistake. */
  end: changing({
    name: 'processes.end',
    input: z.strictObject({ id: z.int().min(5), program: path, startedAt: instant }),
    uses: ['Get-CimInstance', 'Stop-Process'],
  }),
}
