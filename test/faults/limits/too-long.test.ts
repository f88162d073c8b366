/** Lists of the interface that are too long to be sent. */
import { describeTooLong } from './too-long.ts';

describeTooLong('a list that is too long', [['/api/admin/api-tokens'], ['/api/admin/groups']]);
