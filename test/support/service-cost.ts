import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../../lab/hosts/host.ts'
import { percentile } from './manager-scale-figures.ts'

/** What the main process of a service uses at one moment. */
export interface ServiceUsage {
  readonly service: string
  readonly pid: number
  /** Proportional set size (PSS) in bytes: shared pages count by their share. */
  readonly pss: number
  /** Processor time so far in milliseconds, including ended child processes. */
  readonly cpuMs: number
}

/** Resource use of a service over a period without work. */
export interface ServiceCost {
  readonly service: string
  /** Median and maximum of PSS in bytes. */
  readonly pss: number
  readonly maxPss: number
  /** Share of one core: 0.01 is one percent. */
  readonly cpuShare: number
}

/** Shell command that prints the process id of a service, whose name is in the variable `service`. */
const findMainPid = 'systemctl show -P MainPID $service'

/**
 * Builds a script that prints name, pid, PSS in kB and processor time in clock ticks of each service. The
 * process name may contain spaces, so fields are counted after it. Fields 12 to 15 are times of the process
 * and its children.
 */
function buildScript(services: readonly string[], findPid: string): string {
  return `getconf CLK_TCK
for service in ${services.join(' ')}; do
  pid=$(${findPid})
  pss=$(sed -n 's/^Pss: *\\([0-9]*\\) kB$/\\1/p' /proc/$pid/smaps_rollup)
  ticks=$(sed 's/.*) //' /proc/$pid/stat | cut -d ' ' -f 12-15 | tr ' ' '+')
  echo $service $pid $pss $(($ticks))
done`
}

/** Reads what services of a host use. Throws if one of them does not run. */
export async function readServiceUsage(
  host: Host,
  services: readonly string[],
  findPid = findMainPid,
): Promise<ServiceUsage[]> {
  const { stdout } = await host.script(buildScript(services, findPid))
  const [ticksPerSecond = '', ...lines] = stdout.trim().split('\n')
  const usages = lines.map((line): ServiceUsage => {
    const [service = '', pid = '', pss = '', ticks = ''] = line.split(' ')
    return {
      ...{ service, pid: Number(pid), pss: Number(pss) * 1024 },
      cpuMs: (Number(ticks) * 1000) / Number(ticksPerSecond),
    }
  })
  const broken = usages.find(({ pid, pss, cpuMs }) => !(pid > 0 && pss > 0 && cpuMs >= 0))
  if (usages.length !== services.length || broken !== undefined)
    throw new Error(`cannot read the usage of ${broken?.service ?? services.join(', ')}: ${stdout}`)
  return usages
}

/** Measures services over a period: memory at each sample, processor time from the first to the last. */
export async function measureServices(
  host: Host,
  services: readonly string[],
  {
    durationMs,
    samples,
    findPid,
  }: { readonly durationMs: number; readonly samples: number; readonly findPid?: string },
): Promise<ServiceCost[]> {
  const all: { readonly at: number; readonly usages: readonly ServiceUsage[] }[] = []
  for (let sample = 0; sample <= samples; sample++) {
    if (sample > 0) await sleep(durationMs / samples)
    all.push({ at: performance.now(), usages: await readServiceUsage(host, services, findPid) })
  }
  return services.map((service, index) => {
    const [first, last] = [all[0]?.usages[index], all.at(-1)?.usages[index]]
    if (first === undefined || last?.pid !== first.pid) throw new Error(`${service} was restarted meanwhile`)
    const sizes = all.flatMap(({ usages }) => usages[index]?.pss ?? [])
    const elapsedMs = (all.at(-1)?.at ?? 0) - (all[0]?.at ?? 0)
    return {
      service,
      pss: percentile(sizes, 0.5),
      maxPss: Math.max(...sizes),
      cpuShare: (last.cpuMs - first.cpuMs) / elapsedMs,
    }
  })
}
