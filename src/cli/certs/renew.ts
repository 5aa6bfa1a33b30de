import { limitHosts } from '../limit-hosts.ts'
import { runUp } from '../up/run-up.ts'
import { type CertsAction, certsFlags } from './action.ts'

/**
 * `hyperkube certs renew [HOST...]`: brings hosts to what is wished, as `up` does, and with --all with new keys for all
 * of their certificates. Hosts whose certificates have expired are reached by ssh all the same.
 */
export const renewCertificates: CertsAction = async ({ context, options, cluster, findings, words }) => {
  const { all } = certsFlags.parse(options)
  const limit = limitHosts(cluster, words).map(({ name }) => name)
  const limited = words.length === 0 ? options : { ...options, limit }
  return runUp(context, limited, { command: 'certs renew', cluster, findings, renew: all })
}
