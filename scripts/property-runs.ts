import { configureGlobal } from 'fast-check'

// A certificate that is read before node:tls is loaded leaves node:tls without createSecureContext (Node 24).
await import('node:tls')

// Enough to find most mistakes at every change; `npm run test:full` takes thousands.
configureGlobal({ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 100) })
