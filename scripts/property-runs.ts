// A certificate that is read before node:tls is loaded leaves node:tls without createSecureContext (Node 24).
import 'node:tls'
import { configureGlobal } from 'fast-check'

// Enough to find most mistakes at every change; `npm run test:full` takes thousands.
configureGlobal({ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 100) })
