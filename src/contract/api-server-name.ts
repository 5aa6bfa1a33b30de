/**
 * DNS name in the certificate of every API server. Clients verify this name instead of the address they
 * connect to. No other certificate has this name, so no node can pose as an API server, whatever its address
 * is.
 */
export const apiServerTlsName = 'kubernetes.default.svc'
