import type { Accelerator } from '../../lab/hosts/virtual-machine.ts'

/** One thing that was to be shown. */
export interface Shown {
  readonly what: string
  readonly well: boolean
  readonly seconds: number
}

export interface VirtualMachineEvidence {
  readonly date: Date
  /** What `hyperkube version` says. */
  readonly hyperkube: string
  readonly kubernetes: string
  /** What the machine says of its own system and kernel. */
  readonly system: string
  readonly accelerator: Accelerator
  readonly modules: readonly string[]
  readonly shown: readonly Shown[]
}

const speeds: Readonly<Record<Accelerator, string>> = {
  kvm: 'Its instructions ran on the processor itself.',
  tcg: `Its processors were emulated, instruction by instruction: compare its figures with no other.
Leases of the controllers were longer than usual, because nobody that slow renews them in time.`,
}

/** What came of it, as it is kept. */
export function virtualMachineText(evidence: VirtualMachineEvidence): string {
  const { date, hyperkube, kubernetes, system, accelerator, modules, shown } = evidence
  const rows = shown.map(
    ({ what, well, seconds }) => `| ${what} | ${well ? 'yes' : 'no'} | ${seconds.toFixed(1)} s |`,
  )
  return `# A machine with a kernel of its own

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes}, one host, which is control
plane and worker.

The other hosts of the lab are containers: they share the kernel of the machine they are on, which has cgroup version 1
and nothing to load. This one is a virtual machine: ${system}, cgroup version 2,
two processors, 4 GiB of memory. ${speeds[accelerator]}

Its cluster.yml names no driver for cgroups and no module, as in every other suite: what is different
follows from the facts of the host. Modules that a node needs: ${modules.join(', ')}.

| what was shown | well | it took |
|---|---|---|
${rows.join('\n')}
`
}
