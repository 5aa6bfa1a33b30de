import { z } from 'zod'
import { type CommandGroup, exitCodes, type LeafCommand } from '../command/command.ts'
import { backupWork, buildUpgradeWork, certsWork, upWork } from '../fleet/cluster-work.ts'
import { addRolloutFlags, addSelectFlags } from '../fleet/fleet-flags.ts'
import { showFleetPlan } from '../fleet/fleet-plan.ts'
import { defaultReadParallel, showFleetStatus } from '../fleet/fleet-status.ts'
import { rollOut } from '../fleet/roll-out.ts'

const statusLeaf: LeafCommand = {
  examples: [
    [
      'hyperkube fleet status',
      'show the health of all clusters, the worst first; exit code 1 if any is unhealthy',
    ],
    ['hyperkube fleet status --select stage=canary', 'only clusters with this label'],
    ['hyperkube fleet status -o wide', 'include labels, files and the first certificate that expires'],
  ],
  sharedFlags: ['fleet-file', 'output'],
  configure: (command) => addSelectFlags(command, String(defaultReadParallel)),
  run: async (context, { options }) => showFleetStatus(context, options),
}

const planLeaf: LeafCommand = {
  examples: [
    ['hyperkube fleet plan', 'preview the changes of fleet up, and where inherited values come from'],
    ['hyperkube fleet plan --select region=eu -o json', 'print the plans of some clusters as JSON'],
  ],
  sharedFlags: ['fleet-file', 'output'],
  configure: (command) => addSelectFlags(command, String(defaultReadParallel)),
  run: async (context, { options }) => showFleetPlan(context, options),
}

const upLeaf: LeafCommand = {
  examples: [
    ['hyperkube fleet up', 'show the plans of all clusters, prompt, then change them in waves'],
    [
      'hyperkube fleet up --yes --waves 1,10%,100%',
      'skip plans and prompt; one cluster, then 10%, then the rest',
    ],
    ['hyperkube fleet up --resume', 'continue after a stop or an interruption'],
    ['hyperkube fleet up --dry-run', 'show the waves and the plans only'],
  ],
  sharedFlags: ['fleet-file', 'output', 'confirm'],
  configure: (command) => addRolloutFlags(command),
  run: async (context, { options }) =>
    rollOut(context, options, { command: 'up', work: upWork, canPlan: true }),
}

const upgradeFlags = z.looseObject({
  to: z
    .string()
    .transform((version) => version.replace(/^v/, ''))
    .optional(),
  snapshot: z.boolean().default(true),
})

const upgradeLeaf: LeafCommand = {
  examples: [
    ['hyperkube fleet upgrade --to 1.37.1 --dry-run', 'show the waves'],
    ['hyperkube fleet upgrade --to 1.37.1', 'prompt, then upgrade the clusters in waves'],
    ['hyperkube fleet upgrade --to 1.37.1 --resume', 'continue after a stop or an interruption'],
  ],
  sharedFlags: ['fleet-file', 'output', 'confirm'],
  configure: (command) =>
    addRolloutFlags(
      command
        .option('--to <version>', 'upgrade to this Kubernetes version')
        .option('--no-snapshot', 'skip the etcd snapshots before the steps and their test restores'),
    ),
  async run(context, { options }) {
    const { to, snapshot } = upgradeFlags.parse(options)
    if (to === undefined) {
      context.stderr.write('USAGE: hyperkube fleet upgrade needs --to VERSION\n')
      context.stderr.write('  → hyperkube fleet upgrade --help\n')
      return exitCodes.usage
    }
    const work = buildUpgradeWork(to, snapshot)
    return rollOut(context, options, { command: 'upgrade', to, work, canPlan: false })
  },
}

const certsLeaf: LeafCommand = {
  examples: [
    ['hyperkube fleet certs', 'show the plans, prompt, then renew all certificates of all clusters in waves'],
    ['hyperkube fleet certs --select region=eu --yes', 'renew those of some clusters without a prompt'],
  ],
  sharedFlags: ['fleet-file', 'output', 'confirm'],
  configure: (command) => addRolloutFlags(command),
  run: async (context, { options }) =>
    rollOut(context, options, { command: 'certs', work: certsWork, canPlan: true }),
}

const backupLeaf: LeafCommand = {
  examples: [
    [
      'hyperkube fleet backup --yes --waves 100%',
      'save an etcd snapshot of each cluster to the stores of its cluster.yml',
    ],
  ],
  sharedFlags: ['fleet-file', 'output', 'confirm'],
  configure: (command) => addRolloutFlags(command),
  run: async (context, { options }) =>
    rollOut(context, options, { command: 'backup', work: backupWork, canPlan: false }),
}

export const fleetCommand: CommandGroup = {
  subcommands: [
    { name: 'status', summary: 'Show the health of all clusters, the worst first', definition: statusLeaf },
    { name: 'plan', summary: 'Preview changes of all clusters', definition: planLeaf },
    { name: 'up', summary: 'Create or update clusters in waves', definition: upLeaf },
    { name: 'upgrade', summary: 'Upgrade Kubernetes of clusters in waves', definition: upgradeLeaf },
    { name: 'certs', summary: 'Renew the certificates of clusters in waves', definition: certsLeaf },
    { name: 'backup', summary: 'Save etcd snapshots of clusters', definition: backupLeaf },
  ],
}
