/** Documents for SDKs that are too long to be sent. */
import { CLIENT_TOKEN, describeTooLong } from '../../../faults/limits/too-long.ts';

describeTooLong('a document that is too long', [
  ['/api/client/features', CLIENT_TOKEN],
  ['/api/client/delta', CLIENT_TOKEN],
  ['/api/client/streaming', CLIENT_TOKEN],
]);
