import { z } from 'zod'
import { type CommandGroup, exitCodes, type LeafCommand } from '../command/command.ts'
import { backupWork, buildUpgradeWork, certsWork, upWork } from '../fleet/cluster-work.ts'
import { addClusterTimeoutFlag, addRolloutFlags, addSelectFlags } from '../fleet/fleet-flags.ts'
import { showFleetPlan } from '../fleet/fleet-plan.ts'
import { defaultReadParallel, showFleetStatus } from '../fleet/fleet-status.ts'
import { prepareJoin } from '../fleet/join-clusters.ts'
import { addManagementFlags, changeManagedClusters } from '../fleet/managed-changes.ts'
import { preparePublish } from '../fleet/publish-documents.ts'
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
  configure: (command) => addClusterTimeoutFlag(addSelectFlags(command, String(defaultReadParallel)), '30s'),
  run: async (context, { options }) => showFleetStatus(context, options),
}

const planLeaf: LeafCommand = {
  examples: [
    ['hyperkube fleet plan', 'preview the changes of fleet up, and where inherited values come from'],
    ['hyperkube fleet plan --select region=eu -o json', 'print the plans of some clusters as JSON'],
  ],
  sharedFlags: ['fleet-file', 'output'],
  configure: (command) => addClusterTimeoutFlag(addSelectFlags(command, String(defaultReadParallel)), '5m'),
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
    ['hyperkube fleet upgrade --to 1.37.1 --dry-run', 'show the waves only'],
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
    ['hyperkube fleet backup', 'prompt, then save an etcd snapshot of each cluster, in waves'],
    [
      'hyperkube fleet backup --yes --waves 100%',
      'the same for all clusters in one wave, without a prompt; snapshots go to the stores of each cluster.yml',
    ],
  ],
  sharedFlags: ['fleet-file', 'output', 'confirm'],
  configure: (command) => addRolloutFlags(command),
  run: async (context, { options }) =>
    rollOut(context, options, { command: 'backup', work: backupWork, canPlan: false }),
}

const joinLeaf: LeafCommand = {
  examples: [
    [
      'hyperkube fleet join --management plane.kubeconfig --dry-run',
      'show which clusters would join the management plane',
    ],
    [
      'hyperkube fleet join --management plane.kubeconfig --select name=berlin',
      'prompt, then connect one cluster: it gets a credential for its own object in the management plane',
    ],
    [
      'hyperkube fleet join --management plane.kubeconfig --server https://plane.example.com:6443',
      'for a kubeconfig whose server the managed clusters cannot reach',
    ],
  ],
  sharedFlags: ['fleet-file', 'output', 'confirm'],
  configure: (command) =>
    addManagementFlags(command).option(
      '--server <url>',
      'URL at which managed clusters reach the management plane (default: the server in the kubeconfig)',
    ),
  run: async (context, { options }) =>
    changeManagedClusters(context, options, { name: 'join', kind: 'FleetJoin', prepare: prepareJoin }),
}

const publishLeaf: LeafCommand = {
  examples: [
    [
      'hyperkube fleet publish --management plane.kubeconfig --dry-run',
      'show which clusters have changed addons',
    ],
    [
      'hyperkube fleet publish --management plane.kubeconfig',
      'prompt, then sign the addons of each cluster.yml; a Rollout permits clusters to apply them',
    ],
  ],
  sharedFlags: ['fleet-file', 'output', 'confirm'],
  configure: (command) => addManagementFlags(command),
  run: async (context, { options }) =>
    changeManagedClusters(context, options, {
      ...{ name: 'publish', kind: 'FleetPublish', prepare: preparePublish },
    }),
}

export const fleetCommand: CommandGroup = {
  subcommands: [
    { name: 'status', summary: 'Show the health of all clusters, the worst first', definition: statusLeaf },
    { name: 'plan', summary: 'Preview changes of all clusters', definition: planLeaf },
    { name: 'up', summary: 'Create or update clusters in waves', definition: upLeaf },
    { name: 'upgrade', summary: 'Upgrade Kubernetes of clusters in waves', definition: upgradeLeaf },
    { name: 'certs', summary: 'Renew the certificates of clusters in waves', definition: certsLeaf },
    { name: 'backup', summary: 'Save etcd snapshots of clusters', definition: backupLeaf },
    { name: 'join', summary: 'Connect clusters to a management plane', definition: joinLeaf },
    {
      name: 'publish',
      summary: 'Sign the addons of clusters for their management plane',
      definition: publishLeaf,
    },
  ],
}
