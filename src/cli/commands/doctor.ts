import { type CommandDefinition, exitCodes } from '../command/command.ts'
import { buildDoctorDocument } from '../doctor/document.ts'
import { examineCluster } from '../doctor/examine.ts'
import { formatDoctor } from '../doctor/text.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { openCluster } from '../../workspace/open-cluster.ts'
import { formatFindings, printResult } from '../command/print.ts'

export const doctorCommand: CommandDefinition = {
  examples: [
    ['hyperkube doctor', 'what is wrong, the cause first: what was seen, what it means, what to type'],
    ['hyperkube doctor -o wide', 'with all that was seen of what follows from it'],
    ['hyperkube doctor --limit w2', 'of one host; also when the API or other hosts are down'],
    ['hyperkube doctor -o json', 'for programs; exit code 1 when something is wrong'],
  ],
  identity: true,
  hosts: true,
  configure: () => undefined,
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const { name } = cluster.metadata
    const identity = await openIdentity(context, options, name)
    const only = new Set(limitHosts(cluster, options.limit).map((host) => host.name))
    await using opened = await openCluster(context, options.file, cluster, identity)
    const { now, signal, paint } = context
    const { at, diagnoses } = await examineCluster(opened.endpoints, opened.deps, { only, now, signal })
    const document = buildDoctorDocument(name, at, diagnoses)
    const wide = options.output === 'wide'
    printResult(context.stdout, options.output, document, () => formatDoctor(document, { wide }, paint))
    return document.healthy ? exitCodes.ok : exitCodes.failure
  },
}
