import { type CommandDefinition, type CommandEntry, isCommandGroup } from './command/command.ts'
import type { NamedCommand } from './command/help.ts'

/** All commands, in the order in which help lists them. */
export const commandTable: readonly CommandEntry[] = [
  {
    name: 'init',
    aliases: [],
    summary: 'Create cluster.yml and the keys of the cluster',
    load: async () => (await import('./commands/init.ts')).initCommand,
  },
  {
    name: 'adopt',
    aliases: [],
    summary: 'Adopt a running kubeadm or RKE1 cluster',
    load: async () => (await import('./commands/adopt.ts')).adoptCommand,
  },
  {
    name: 'validate',
    aliases: ['check'],
    summary: 'Check cluster.yml',
    load: async () => (await import('./commands/validate.ts')).validateCommand,
  },
  {
    name: 'catalog',
    aliases: [],
    summary: 'List supported versions, or use a newer signed catalog',
    load: async () => (await import('./commands/catalog.ts')).catalogCommand,
  },
  {
    name: 'lock',
    aliases: [],
    summary: 'Pin versions and checksums in cluster.lock',
    load: async () => (await import('./commands/lock.ts')).lockCommand,
  },
  {
    name: 'images',
    aliases: [],
    summary: 'List the container images that the cluster needs',
    load: async () => (await import('./commands/images.ts')).imagesCommand,
  },
  {
    name: 'bundle',
    aliases: [],
    summary: 'Create or verify an air-gap bundle',
    load: async () => (await import('./commands/bundle.ts')).bundleCommand,
  },
  {
    name: 'plan',
    aliases: [],
    summary: 'Preview changes',
    load: async () => (await import('./commands/plan.ts')).planCommand,
  },
  {
    name: 'up',
    aliases: [],
    summary: 'Create or update the cluster',
    load: async () => (await import('./commands/up.ts')).upCommand,
  },
  {
    name: 'provisional',
    aliases: [],
    summary: 'Confirm or roll back a provisional change',
    load: async () => (await import('./commands/provisional.ts')).provisionalCommand,
  },
  {
    name: 'upgrade',
    aliases: [],
    summary: 'Upgrade Kubernetes',
    load: async () => (await import('./commands/upgrade.ts')).upgradeCommand,
  },
  {
    name: 'status',
    aliases: [],
    summary: 'Show the health of the cluster',
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    name: 'fleet',
    aliases: [],
    summary: 'Show and change many clusters, in waves',
    load: async () => (await import('./commands/fleet.ts')).fleetCommand,
  },
  {
    name: 'ui',
    aliases: [],
    summary: 'Show clusters in the browser of this machine',
    load: async () => (await import('./commands/ui.ts')).uiCommand,
  },
  {
    name: 'doctor',
    aliases: [],
    summary: 'Diagnose problems and suggest fixes',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    name: 'explain',
    aliases: [],
    summary: 'Explain the code of an error or a finding',
    load: async () => (await import('./commands/explain.ts')).explainCommand,
  },
  {
    name: 'logs',
    aliases: [],
    summary: 'Show component logs of all hosts',
    load: async () => (await import('./commands/logs.ts')).logsCommand,
  },
  {
    name: 'runs',
    aliases: [],
    summary: 'List recorded runs and show their timelines',
    load: async () => (await import('./commands/runs.ts')).runsCommand,
  },
  {
    name: 'support-bundle',
    aliases: [],
    summary: 'Collect a support bundle without secrets',
    load: async () => (await import('./commands/support-bundle.ts')).supportBundleCommand,
  },
  {
    name: 'heal',
    aliases: [],
    summary: 'Inspect, pause or resume self-healing',
    load: async () => (await import('./commands/heal.ts')).healCommand,
  },
  {
    name: 'addon',
    aliases: ['addons'],
    summary: 'List, compare, enable or disable addons',
    load: async () => (await import('./commands/addon.ts')).addonCommand,
  },
  {
    name: 'node',
    aliases: ['nodes'],
    summary: 'Add, remove, replace, drain or uncordon nodes',
    load: async () => (await import('./commands/node.ts')).nodeCommand,
  },
  {
    name: 'etcd',
    aliases: [],
    summary: 'Inspect, back up, restore and recover etcd',
    load: async () => (await import('./commands/etcd.ts')).etcdCommand,
  },
  {
    name: 'certs',
    aliases: ['certificates'],
    summary: 'List and renew certificates, rotate CAs and keys',
    load: async () => (await import('./commands/certs.ts')).certsCommand,
  },
  {
    name: 'secret',
    aliases: ['secrets'],
    summary: 'Manage secrets that cluster.yml refers to',
    load: async () => (await import('./commands/secret.ts')).secretCommand,
  },
  {
    name: 'eject',
    aliases: [],
    summary: 'Write what kubeadm needs to manage the cluster without hyperkube',
    load: async () => (await import('./commands/eject.ts')).ejectCommand,
  },
  {
    name: 'reset',
    aliases: [],
    summary: 'Remove the cluster from its hosts',
    load: async () => (await import('./commands/reset.ts')).resetCommand,
  },
  {
    name: 'kubeconfig',
    aliases: [],
    summary: 'Print a kubeconfig for an administrator (valid 24h)',
    load: async () => (await import('./commands/kubeconfig.ts')).kubeconfigCommand,
  },
  {
    name: 'kubectl',
    aliases: [],
    summary: 'Run the kubectl of cluster.lock against the cluster, through SSH',
    passesArguments: true,
    load: async () => (await import('./commands/kubectl.ts')).kubectlCommand,
  },
  {
    name: 'proxy',
    aliases: [],
    summary: 'Run a local load balancer for the API',
    load: async () => (await import('./commands/proxy.ts')).proxyCommand,
  },
  {
    name: 'conformance',
    aliases: [],
    summary: 'Run the upstream conformance tests',
    load: async () => (await import('./commands/conformance.ts')).conformanceCommand,
  },
  {
    name: 'schema',
    aliases: [],
    summary: 'Print the JSON Schema of cluster.yml or fleet.yml',
    load: async () => (await import('./commands/schema.ts')).schemaCommand,
  },
  {
    name: 'completion',
    aliases: [],
    summary: 'Print a completion script for your shell',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
  {
    name: 'version',
    aliases: [],
    summary: 'Print the version of hyperkube',
    load: async () => (await import('./commands/version.ts')).versionCommand,
  },
  {
    name: 'complete',
    aliases: [],
    summary: 'Print candidates for the last word of a command line',
    runBy: 'shell',
    load: async () =>
      (await import('./commands/complete.ts')).buildCompleteCommand({
        commands: operatorCommands(),
        load: async (name) => findCommand(name)?.load(),
      }),
  },
  {
    name: 'facts',
    aliases: [],
    summary: 'Print the facts of this host',
    runBy: 'service',
    load: async () => (await import('./commands/facts.ts')).factsCommand,
  },
  {
    name: 'agent',
    aliases: [],
    summary: 'Run the hyperkube agent of this host',
    runBy: 'service',
    load: async () => (await import('./commands/agent.ts')).agentCommand,
  },
  {
    name: 'fleet-observer',
    aliases: [],
    summary: 'Observe clusters for another process of hyperkube',
    runBy: 'service',
    load: async () => (await import('./commands/fleet-observer.ts')).fleetObserverCommand,
  },
  {
    name: 'agent-call',
    aliases: [],
    summary: 'Forward requests to the agent of this host',
    runBy: 'service',
    load: async () => (await import('./commands/agent-call.ts')).agentCallCommand,
  },
  {
    name: 'agent-revert',
    aliases: [],
    summary: 'Roll back to the previous agent of this Windows host unless the new agent is confirmed',
    runBy: 'service',
    load: async () => (await import('./commands/agent-revert.ts')).agentRevertCommand,
  },
  {
    name: 'host-call',
    aliases: [],
    summary: 'Handle a request on this Windows host without its agent',
    runBy: 'service',
    load: async () => (await import('./commands/host-call.ts')).hostCallCommand,
  },
  {
    name: 'apiserver-proxy',
    aliases: [],
    summary: 'Forward connections of a node to healthy API servers',
    runBy: 'service',
    load: async () => (await import('./commands/apiserver-proxy.ts')).apiserverProxyCommand,
  },
  {
    name: 'controller-manager',
    aliases: [],
    summary: 'Run the hyperkube controllers',
    runBy: 'service',
    load: async () => (await import('./commands/controller-manager.ts')).controllerManagerCommand,
  },
]

/**
 * Finds a command by its name or alias. Links to the executable are named after commands, so this function
 * also resolves the name of such a link.
 */
export function findCommand(name: string): CommandEntry | undefined {
  return commandTable.find((entry) => entry.name === name || entry.aliases.includes(name))
}

/** Lists the commands that operators run, without those of services and shells. */
export function operatorCommands(): readonly CommandEntry[] {
  return commandTable.filter(({ runBy }) => runBy === undefined)
}

/** Lists all commands and subcommands that operators run, in the order of the table. */
export async function listOperatorCommands(): Promise<readonly NamedCommand[]> {
  const commands = await Promise.all(
    operatorCommands().map(async ({ name, summary, load }) => listLeafCommands(name, summary, await load())),
  )
  return commands.flat()
}

function listLeafCommands(
  name: string,
  summary: string,
  definition: CommandDefinition,
): readonly NamedCommand[] {
  if (!isCommandGroup(definition)) return [{ name, summary, definition }]
  const { own, subcommands } = definition
  return [
    ...(own === undefined ? [] : [{ name, summary, definition: own }]),
    ...subcommands.flatMap((one) => listLeafCommands(`${name} ${one.name}`, one.summary, one.definition)),
  ]
}
