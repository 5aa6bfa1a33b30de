import { once } from 'node:events'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { printable } from '../../kit/printable.ts'
import { addressText, parseAddress } from '../../proxy/address.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openApiProxy } from '../api-proxy.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { findingsText } from '../print.ts'

const flags = z.object({ listen: z.string().default('127.0.0.1:6443') })

export const proxy: CommandDefinition = {
  examples: [
    ['hyperkube proxy', 'serve the API at 127.0.0.1:6443, whichever control planes are well'],
    ['hyperkube kubeconfig --server https://127.0.0.1:6443 > kubeconfig', 'for kubectl, beside it'],
    ['hyperkube proxy --listen 127.0.0.1:7443', 'when another cluster has the port'],
  ],
  identity: true,
  configure(command) {
    command.option('--listen <address>', 'where to serve it (default: 127.0.0.1:6443)', listenFlag)
  },
  async run(context, { options }) {
    const { listen } = flags.parse(options)
    const { stderr, signal } = context
    const { cluster, findings } = await loadCluster(context, options.file)
    stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const { kubernetes } = (await openIdentity(context, options, cluster.metadata.name)).authorities
    const say = (line: string): void => void stderr.write(`${printable(line)}\n`)
    const served = await openApiProxy(context, cluster, kubernetes, listen, say)
    try {
      const { host } = parseAddress(listen)
      const url = `https://${addressText(host, served.port ?? 0)}`
      say(`${url} is the API of ${cluster.metadata.name}, until Ctrl-C`)
      say(`  → hyperkube kubeconfig --server ${url}${fileFlag(options.file)} > kubeconfig`)
      if (!isNamed(host, cluster)) {
        say(`certificates of the API servers do not name ${host}, so clients will refuse them`)
        say(`  → listen at 127.0.0.1, or put it into spec.api.sans and run hyperkube up`)
      }
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      await served.stop()
    }
    signal.throwIfAborted()
    return exitCodes.ok
  },
}

function listenFlag(text: string): string {
  const { host, port } = parseAddress(text)
  if (host === '' || !/:\d+$/.test(text) || port > 65_535) {
    throw new InvalidArgumentError('write it as 127.0.0.1:6443')
  }
  return text
}

/** Whether clients that come in here find the name they asked for in a server's certificate. */
function isNamed(host: string, { spec }: Cluster): boolean {
  return ['127.0.0.1', 'localhost', ...spec.api.sans].includes(host)
}

function fileFlag(file: string): string {
  return file === 'cluster.yml' ? '' : ` -f ${file}`
}
