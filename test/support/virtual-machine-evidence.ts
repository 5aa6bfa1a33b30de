import type { Accelerator } from '../../lab/hosts/virtual-machine.ts'

/** Result of one test. */
export interface CheckResult {
  readonly what: string
  readonly passed: boolean
  readonly seconds: number
}

export interface VirtualMachineEvidence {
  readonly date: Date
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  readonly kubernetes: string
  /** Operating system and kernel of the machine. */
  readonly system: string
  readonly accelerator: Accelerator
  readonly modules: readonly string[]
  readonly shown: readonly CheckResult[]
}

const speeds: Readonly<Record<Accelerator, string>> = {
  kvm: 'Its instructions ran on the processor itself.',
  tcg: `Its processors were emulated, instruction by instruction: compare its figures with no other.
Leases of the controllers were longer than usual, because a host that slow does not renew them in time.`,
}

/** Renders the results for docs/evidence. */
export function formatVirtualMachineEvidence(evidence: VirtualMachineEvidence): string {
  const { date, hyperkube, kubernetes, system, accelerator, modules, shown } = evidence
  const rows = shown.map(
    ({ what, passed, seconds }) => `| ${what} | ${passed ? 'yes' : 'no'} | ${seconds.toFixed(1)} s |`,
  )
  return `# A machine with a kernel of its own

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes}, one host, which is control
plane and worker.

The other hosts of the lab are containers: they share the kernel of the machine they are on, which has cgroup version 1
and nothing to load. This one is a virtual machine: ${system}, cgroup version 2,
two processors, 4 GiB of memory. ${speeds[accelerator]}

Its cluster.yml names no driver for cgroups and no module, as in every other suite: what is different
follows from the facts of the host. Modules that a node needs: ${modules.join(', ')}.

| test | passed | duration |
|---|---|---|
${rows.join('\n')}
`
}
