import { type LeafCommand, exitCodes } from '../command/command.ts'
import { buildDoctorDocument } from '../doctor/document.ts'
import { examineCluster, selectIngressCheck } from '../doctor/examine.ts'
import { formatDoctor } from '../doctor/text.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { connectToCluster } from '../../workspace/open-cluster.ts'
import { formatFindings, printResult } from '../command/print.ts'

export const doctorCommand: LeafCommand = {
  examples: [
    ['hyperkube doctor', 'list problems by root cause, with evidence and commands to fix them'],
    ['hyperkube doctor -o wide', 'include the evidence of all follow-up problems'],
    ['hyperkube doctor --limit w2', 'diagnose one host; works without the API and other hosts'],
    ['hyperkube doctor -o json', 'print JSON for scripts; exit code 1 if problems exist'],
  ],
  sharedFlags: ['file', 'key', 'limit', 'output'],
  configure: () => undefined,
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const { name } = cluster.metadata
    const identity = await openIdentity(context, options, name)
    const only = new Set(limitHosts(cluster, options.limit).map((host) => host.name))
    await using opened = await connectToCluster(context, options.file, cluster, identity)
    const { now, signal, paint } = context
    const { at, diagnoses } = await examineCluster(opened.endpoints, opened.deps, {
      only,
      ...selectIngressCheck(cluster),
      now,
      signal,
    })
    const document = buildDoctorDocument(name, at, diagnoses)
    const wide = options.output === 'wide'
    printResult(context.stdout, options.output, document, () => formatDoctor(document, { wide }, paint))
    return document.healthy ? exitCodes.ok : exitCodes.failure
  },
}
