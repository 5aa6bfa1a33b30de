import { configureGlobal } from 'fast-check'

// Loads node:tls before the tests do. If a certificate is parsed before node:tls is loaded, node:tls lacks
// createSecureContext (Node 24).
await import('node:tls')

// 100 runs find most mistakes on every change; `npm run test:full` uses thousands.
configureGlobal({ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 100) })
