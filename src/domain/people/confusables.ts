/**
 * Characters that look like others: the mappings of Unicode's confusables.txt (version 10.0, of UTS #39) whose characters NFKC leaves as they are.
 *
 * Each word is a prototype and the characters that look like it, with commas between them. A prototype is code points with `+` between them.
 * Code points are in base 36. The data is © 1991–2017 Unicode, Inc., under the terms of https://www.unicode.org/copyright.html; it is made
 * shorter here as described.
 */
const WORDS = `
w,4g0,6co,6cp x,cj,8y9 12,x2w
13,2o,jd,jf,jg,jh,ji,js,ju,jv,l0,122,125,15l,16b,1kk,1kl,40a,4i4,6c8,6c9,6cb,6cy,6d1,x3g,20k1,20k2
13+13,y,je,ku,l2,16a,16c,5oz,6cc,6cd,6cf,9hf 13+1u,ap 13+1w,ay 13+28,bo 13+2c,bw 13+2h,c3
14,7s8,7si,9hw,1e0u 14+14,948 15,7s9,7sj,9hx,1e0v 15+15,949 16,19p,6dq,6qf,1f6n 17,4j1,7th,1f2z 17+le,8bn
17+lf,8bo 17+lj,6qc 17+lm,8bm 17+mb,8bp 17+mo,8bq 17+6f6,8br 18,171,19n,6ca,wl5
19,k7,1ck,6c0,6c2,6c3,6df,6qa,7ti,8u2 19+1a,wla 19+lj,6rc 19+lk,93u 19+lv,8bt 19+mb,8bu
1a,19c,1dc,1dt,1du,wl4,wsu,1gls,2jxp 1a+18,wl7 1a+1a,wl6
1b,4l1,6dd,6dg,6qd,7e9,7uz,8ag,8ue,9ir,9n2,9ub,fgf,2k3e 1b+1b,8hp 1b+1b+1b,8hn 1b+lg,8ae
1e,br,rs,43j,wuc,wz3,x22 1e+mt,cb 1f,c7,f0,t3,yo,8uk,x2i,x4b,1jgq,20jf,2k1y 1f+me,wo 1g,3wu,1jfz 1g+53,46o
1h,cc,1jgb 1i,tt,3xq,8uq,1jh1 1j,1fiq,1jgm,2k2a 1k,f6,f7,1yi,222,26b,1f6i,2ojv
1l,1yl,21z,294,2nh,8ui,x2m,1jfw,1jgs,1jh2 1m,k0,l4,13d,14z,1dv,1dw,1s3,22r,4j0,4qr,4qx,6e2,6ra,wl9,x3d
1m+6mq,8ac 1o,jm,3zs,4he,6d5,7se,2k3a 1o+1o,6sq 1o+1o+1o,6vs 1o+53,405,6vq,8tw 1p,3y8,94w,9ls,wlb 1p+le,6s9
1p+li,6sa 1p+lj,6s0 1p+lm,6s7 1p+mb+lj,6s1 1p+ob,6se 1p+6i8,8dq 1q,jn,3zn,6d6,7sf,20jj,2k3b 1q+1o,8f9
1q+1q,6sr,8bk 1q+1q+1q,6vt 1q+53,401 1r,g1,ic,1vh,3vy,wyz 1t,pd,sw,3vu,4at,wku,1f34,20jk 1t+1t,x0y
1t+1x,5i,yc 1t+27,x10 1t+2a,2rd3 1t+2d,x12 1t+2e,x14,x16 1t+2h,x18 1t+li,ct 1t+lm,fa
1u,pe,sy,3xw,4c7,wk0,x4k,1f2a,1f35,1f5t 1v,td,3xb,8tg,wka,1f36,1f5u,1fdh,1fks,1jhl,1jhu,2rf0 1v+13,av
1v+me,5j,x6 1v+6i3,6g1 1w,3vk,4bi,4bu,wk3 1w+mt,5s,7k,ax 1x,ph,t1,3vw,6wv,8xl,wkw,1f2e,1jfq,1jfy 1x+li,7u
1x+mw,g6 1y,rg,4ac,wkd,x3s,1f2f,1f39,1fl1,1jfm,1jgi,2k2b 1y+me,b5 1z,zw,3wg,3xv,wk6 1z+13,b7 1z+li,di
1z+mt,dg 20,pj,t9,3wb,48s,8su,wkn,1f4f 20+me,xz,y1 20+mh,wy,8rr 20+mt,86 21+li,cv 22,ov,so,3vv,425,wk9,x4i
22+53,42h 22+mt,g8 23,pm,t6,3xi,4id,8t0,wk7,1fko 23+13,bc 23+mh,wq,8rt 23+mt,wu,6gd,x1c
24,3xa,42y,8uo,wkh,1fdn,1fl2,1jfn,1jg2,20ie,2k2y 24+mw,8x 25,po,sa,t8,3w7,4c0,4ie,8t4,wkf,1f3k,1f69
25+1u,2rfv 25+me,y5 26,pp,8t6,wkg,1fkj 26+lm,1evi 26+me,bh
27,1c,pr,ta,11x,1j4,1ye,274,292,3ps,8ta,8yc,9hj,wkz,1f2q,1f3f,1fd0,1fia,1fkm,1iog,1jg5,1jhc 27+13,bk,3vo
27+1x,9e 27+27,wwo,x1q 27+li,cx 27+mt,bj,pk,qg,vm,yw,3we,3xn,6ty,6u5,6zw,8xd,x1m,2k2i,2rdg 27+mw,60,8xt
27+mw+ld,e6 28,pt,tc,3xe,419,8te,wk1,1f2t 28+13,41y 29,8yd 29+1x,2rcw 2a,bq,3vl,3wy,493,wkj,1fhw,20j9,2k2e
2b,sl,11r,3x1,3x6,wki,1f2u,1fds,20je 2c,pw,te,3vm,6uc,7vd,8ti,wk4,1f2v,1f3l,1f6d,1jgc,20i2,2rfs 2c+1f,x0o
2c+lk,6zl 2c+mf,ey 2c+mg,by 2c+mh,x8 2c+mt,9y 2c+mw,fy 2c+6i3,6ge 2d,11p,3k0,40c,6qy,6v7,wl0,1fim,1jg8,20jm
2d+13,413 2d+53,40o 2d+li,cz 2d+mt,g4,3ws 2e,vo,19j,1dj,3x5,3zj,8xk,wkm,wyn,1fkt,1jfk,20i0,2k25 2e+1u,2rfw
2e+53,3zv 2e+mt,1evr 2e+5wk,2rd4 2f,10c,3w3,3x0,wkq,1jhi,1jhr 2f+mt,6g9
2g,pz,th,4fh,4hj,7eb,8to,8yl,wkr,x4j,1f2o,1f3o,1f6f,1f6q,1fl3,1jho 2g+mh,xe 2g+mt,1evq
2h,px,tf,xa,3vt,3wd,8tk,wks,1f3m,1jfo,20jn 2h+mt,4l,ge,xc 2i,pi,3wj,wkc,1f5h,1jft,1jhh 2i+me,f8 2i+mt,c5
2k,6qe,7v1,8ad,8ah,9uc,fg6,2k27,2k3f 2k+2k,762,8vt 2k+40l,7uw 2m,jo,jq 2n,1kq 2p,gh,q9,ts,70a 2p+2p,x0z
2p+2t,6e,yd 2p+33,x11 2p+39,x13 2p+3a,x15,x17 2p+3d,x19 2p+li,cu 2p+lm,fb 2p+mq,706 2q,as,to,3wv,4a7
2q+30,tn 2q+lg,aq,ar,sx 2q+lw,gj 2q+mt,ao,v6,v7,wc,wd 2r,u9,5qc,8th,xwv,1fel 2r+me,6f,x7 2r+mw,4i,fw
2s,zl,3xj,41b,wk2 2s+13,41z 2s+3e,ir 2s+53,41n 2s+f1,is 2s+i9,it 2s+lg,b0 2s+lw,gn 2s+mg,gm 2s+mt,7l
2s+mt+mp,6gb 2t,tx,xp,6jy,xte 2t+li,7v 2t+mg,xr 2t+mw,g7 2u,138,61p,x3t,xth 2u+97,ix 2u+me,b6 2u+ms,5ta
2v,b1,gx,135,5tv 2v+li,dj 2v+lw,gw 2v+mf,dx 2v+mt,dh 2w,xn,12o,3wi 2w+lw,h2,3xu,wwl 2w+mt,87,uz
2x,8h,h5,h6,qh,uu,y7,3vp,703,wuf,xv9,1jgj 2x+li,cw 2x+mq,708 2x+mt,h4,5tn,5to 2y,s3,uw 2y+mt,g9 2z+lw,bd
30,1d,21,3g,ba,cg,pl,sm,xs,14w,15h,15r,17r,19d,1dd,1je,4ht,6qr,73x,8sy,8y7,wky,1f2i,1f61,1f6o,20iw,2ojr
30+13,169 30+27,tq 30+30,ch,168,6c6,6qt 30+37,iy 30+38,6gm 30+3e,iz 30+53,43b 30+f1,ha 30+mg,h9 30+ms,h7
30+mt,bb,be 30+mt+30+mt,1evt 30+mt+30+mt+2b+mt,1evs 30+mw,8y 30+191,17p,19v 30+19w,17n,19u 32,12w,130
32+mg,hf 32+mh,bi,qf 32+ms,5tc
33,qn,qr,u6,139,15t,18n,19h,1by,1c1,1cl,1dh,1uu,21y,25i,2cm,2de,2g6,2gy,2jq,2ki,2lc,2na,2o2,2ts,2xc,36l,37k,3cv,5qn,5qp,8tb,xtp,1fe4,1fje,1jgo,1jh3
33+13,bl 33+2t,9f 33+33,6qm,wwp,x1r 33+le,1dr 33+li,cy 33+m3,xv8 33+mt,hh,vn,yx,x1n,xvy,xx7 33+mw,6w,xtq
33+2ls+33,2n3 33+370,368 33+5qf,hi 34,qp,u8,704,8tf 34+53,41j 34+lw,bp 34+mt,5tp 35,10b,12b,12e 35+lw,io
36,tv,5ra,8sl,xtz,xu0,xvl 36+13,wh 36+32,31,1j40,1jhf 36+32+me,hd 36+32+ms,5tb 36+32+mw,6g5 36+mg,hp
36+mh,ho 36+ms,5te 36+mt,gd,wj 37,cd,ut,x0x,xwq,1few,1jgh 37+37+37,2rfg 37+mg,hu 37+ms,5tg 38+2u,x2v
38+37,iu 38+f1,x0p 38+gl,iw 38+hv,iv 38+lw,bx 38+ms,5th 38+mt,9z 39,i3,qt,131,5r0,x3z,xu6,xua,1fjq,1jh4
39+2t,5t7 39+33,xur 39+li,d0 39+mt,5tq,xwc 3a,ql,vp,15k,5r4,6qw,6v5,xwp,1j46,1jgg
3b,hb,v5,10d,129,5r5,xvn,1j4a,1j4e,1j4f 3b+lj,1io5 3b+me,x29 3b+w6+w7,vx 3c,5z,ud,475,48t,4fi,84r,84s,8bz
3c+lj,8c0 3d,gz,i7,qb,ub,xb,3c7,5u4,64f,xui,1jh8 3d+lw,c4 3d+mt,gf,xd 3e,5r6,xw3,1jgk 3e+me,f9 3e+mg,i8
3e+ms,5ti 3e+mt,c6 3f,7sk,2jv8 3h,7sl 3i,6dv,6rg 3i+lj,8dm,93y 3i+lk,6zs 3i+mb,93z 4j,6g4 4w,6qg,7gr,7hi,94g
4w+lk,6zo 4w+mq,6zg 52,94v 53,3zb,4iz,6ci,6cn,6qh,6v9,94h,9ob,x3j,1erl 53+1g,46n 53+1o,404 53+1q,3zr,400,6vr
53+22,42g 53+24,43a 53+28,41i 53+2d,40n 53+2e,3zu 53+2s,41m 53+53+53,6wf,8y0 53+g5,3zw 53+pf,432 53+pg,3ym
53+11k,40p 53+3y9,3yk 53+3yc,3yo 53+3yd,3yq 53+3ye,3ys 53+3yi,3yv 53+3yj,3yx 53+3zm,3zy 53+3zo,402
53+3zt,406 53+40f,40r 53+40g,40k,40t 53+40h,40v 53+40l,40x 53+40m,40z 53+417,41g 53+41a,41k 53+41c,41o
53+41e,41q 53+41f,41s 53+421,42a 53+423,42c 53+424,42e 53+426,42i 53+428,42k 53+429,42m 53+42r,430
53+42u,434 53+42v,436 53+42w,438 53+42z,43c 53+43k,43t 53+43m,4w6 53+43n,4w8 53+43o,4wa 53+43p,4wc
53+43r,43v 53+43s,43x 53+443,44c 53+445,44e 53+446,44g 53+447,44i 53+448,44k 53+44a,44m 53+44b,44o
53+44t,452 53+44v,454 53+44w,456 53+44x,458 53+44y,45a 53+450,45c 53+451,45e 53+45s,45z 53+45t,461
53+45u,463 53+45v,465 53+45w,467 53+45x,469 53+45y,46b 53+46g,46p 53+46h,46r 53+46i,46t 53+46j,46v
53+46l,46x 53+46m,46z 53+477,4we 53+47a,4wf 53+47b,4wg 53+47c,4wh 53+47d,4wi 53+47f,4wj 53+47g,47i
53+47u,47v 53+487,488 53+4vl,4vn 53+4vo,4vq 53+4vs,4vt 53+4w0,4w2 56+1b+6f4,11,19m,6du 56+1b+6f4+6f4,16x,6cw
56+1b+6f4+6f4+6f4,16y,6cx 66,s7,1fic 67,qa,3xs,x4l 6v,7tj 72,cf,s8 8o,qi,u2,5qj,8t1,xx2 8o+mh,wr 8o+mt,wv
at,uk,xwf at+2x,uj au,sd,6mb,wkb,1fdv b2,6pv,8xm,wkx b3,yg b4,100,3wr,1fcx,20j1,2k2p bs,rt,5r8,wud
bt,pv,6q9,8y1 bv,9v,ez,3wf c1,4dq,4dw,6jr d9,gp,yh d9+33,5qs d9+33+mt,xtu d9+33+mw,xtt d9+ke,gq dy,zu
f1,ia,yp,3cj,8ul,x2j fr,12t g2,xvi g5,pn,t7,19k,1dk,3zl,8xj,wkl,wy6,1f2l,1fhs,20jh g5+53,3zx g5+me,xx gb,5u8
gk,or,5qo,6mc,1fez gk+2t,xuq gk+mw,xtr gs,tz,5qg gs+me,wp gu,1feq gy,zx,3y3,xw0 hc,12y,3kz he,92 hj,1fen
hk,qu,uc,8tn hq+ms,5tf hr,6jt hs,xv5,xwi hv,6qz,xu5 i2+mt,5tr i4,5rb,1fiw i5,u4,5ql,xvr i5+me,y6
ig,6u1,7ih,8ao,8yh,wvc,1fib ih,tu,3y4 ii,x3x,1fe2 ik,u5,xvv ik+me,y0,y2 ik+mh,wz in,8up,xwu,1fer ip,wy5
jr,wvy jt,7f8 jt+2q,ui jt+2q+2x,wup jz,ol kq,l7,x06 kr,x04 kz,9he lc,1ub ld,13w,13x,17c,18u,1fr,1uc
le,lt,197,1ke,5ow,wz4 lf,n6,18z lg,lh,195,1kb,5oy,wz5 li,lo,oe,194,196,wvw
li+lj,ls,1d4,1s1,1vl,22p,269,2dc,2gx,2kh,1inz lj,ns,14p,14q,14x,14y,150,1d8,1fk,1fl,1kd,1re,1s2,1z6,22q,2bx
lk,1kj,1rf ll,9ik lm,o6,14f,18y,1cv,29u,2tp,2x9,37a,4p2,4pf,92i,9lm,1ibk ln,18r,1rk lq,5p6 lu,193
lv,lx,17d,18v,1rn lw,199 ly,5pp mb,14k,151,198,1rh,1to,1x8,20s,24c,27w,5p9,1gl6,1i2y,1io3 mc,1ri,5pa
md,307,9il me,m9,mf,mx mg,ma,n9,59z mh,192,5p8 mj,5p1 ml,5p5 mm,5p4 mp,m8,1ua mr,nb mt,mu mw,mv
nk,nr,1rs,1rz nm,1s0 no,1rt np,1ru o3,92u o4,92v o8,92l of,92n pf,sz,3w1,42t,8sk,20hz pf+13,wg pf+53,433
pf+mt,wi pg,3yb,6py,7g3,8sm,8yo,1f2d,1f37,20ii,2rcy pg+53,3yn pg+mq,6zd pg+3z4,3zg ps,tb,6q7,8tc,wyj
py,tg,11v,3ls,4j4,8tm,1f3n q0,vk,4ig,8tq,1f3p,1fip q1,4dr,4dx,1f3q qj,8t2,1fiz qo,u7,5rc qq,rf
qv,8tp,xub,xud qw,vl,1fjt qx,705,8tt,wul,x4n qx+mq,709 rb,8v8 rc,1f3h,1f6a rw,8v0 sr,1fil t2+mh,wm
t4,om,wwx,1fdx,2k23 t4+lc,t5 t4+me+lc,wa tk,8u4 tm+30,wuo tp,6iw ty+mh,wn u0+li,v1 u0+me+li,wb u3,5rf
u3+me,xy ug,8u5 ux,xuo v4,3wn,4bz,2k2q v4+53,4x9 v4+w6+w7,vw xi,y3 xj,y4 xo+mg,xq xv,1fi4 zi,2k1u
11k,3mo,40e,6qx,6v6,wl1,2k3p 11k+13,414 11k+53,40q 11w,6gt 121,jj,k3 12p,3o4 13q,14d 13s,14e 13t,148 13u,144
170,19o,94i 17f,94l 17j,94e 17l+nc,1dp 17s+190,1pd 17s+1cr,1g1 17s+1cy,1py 17t,6u,1c3 17x+190,1a9,1gy
17x+1cr,1ad 17z,1f4x 17z+le,1da 17z+mc+mb,1pq 17z+179,1ag 17z+1cr,1am 181+le,1db 181+li,1aq 181+li+lj,1q1
181+179,1ap 181+190,1gs 181+1cr,1aw 182+le,1pu 183+le,1ha 183+1cr,184 185,1f5e 185+mc+mb,1pr 185+1cr,1b2
187,1f54 187+1cr,1b3 189,173 18h,1bb 18j,1bd,1be 18j+1cr,1bh,1gj 18k+li,1bp 18k+1cr,1br 18l+nc,1dq
18l+1cr,1pj 18m+li,1gp 18m+179,1go 18o,1pt,1f50 18o+le,1c9 18o+li,1c6 18o+lv,1c7 18o+19s,1c8 18o+19w,17o
18o+1cr,1cb 18p,18q,19q,1bu,1cc,1ci,1q5 18p+le,18d 18p+li,1ce,1g6 18p+li+lj,1q2 18p+179,1a1,1bv 18p+190,1pk
18p+19w,17q 18p+1cr,17v,18f,1a6,1bx,1ch 18p+1cr+1cy,1pz 18s,1r9,1rc,1rl 18t,1rm 18w,lz,17e 191,19b
19e,1de,xjj 19f,1df,2ojt 19g,1dg 19i,1di 19l,1dl,1uv,1jhg 19s,lp 1a3,1cg 1ai+179,1aj 1av+179,1gx
1b5,19r,1q3,1q4 1b5+1cr,1b8,1bc 1b6+1cr,1pg 1bg,1gi 1bj,1ps 1bj+1cr,1bo 1cl+190,1c2 1cr,59w,6hn 1fg,1fm
1g4,1gn,1pl 1s5+1tq,1s6 1s5+1tq+1ty,1si 1s5+1tq+1tz,1sj 1s5+1tq+1u0,1sk 1s5+1ty,1s4 1s5+1u1,1sh 1sf+1tx,1sd
1sf+1ty,1se 1sf+1tz,1sg 1tc+1u5+1s7,1s8 1tm,1i2z 1tp,24d 1tt,24h 1tu,24i 1ty,217 1u5,219,24t 1us,x80
1us+1us,1ut 1uw,25k 1ux,25l 1uy,25m 1v2,25q 1v4,25s,7n0,1hvf,1i2v 1v5,2mm 1vn,1z7,2df,2gz,2kj,2o3,37c,1io1
1vp+1xa,1vq 1vv+1xf,1y8,1y9 1w8,1imq 1wa,1ims 1wc,1imu 1we,1imw 1wf,1imx 1wh,1imz 1wj,1ine 1wk,1in2 1wl,1in3
1wm,1in4 1wn,1in5 1wo,1in6 1wq,1in7 1ws,1ind 1wu,1inb 1wv,1inc 1ww,1inf 1wy,1in1 1x3,1inh 1x4,1ini 1x9,1io4
1xa,1ink 1xb,1inl 1xj,1int 1xj+1xa,1inw 1xj+1xz,1iny 1xp,1io2 1xz,1inx 1yf,1ioh 1yg,1ioi 1yk,1iom
1z9+20u,1za 1z9+214,1zk 1z9+218,1zo 22a+20v,1zb 22a+20w,1zc 22a+213,1zj 22b+20x,1zd 22b+20y,1ze 22t+24e,22u
22t+24e+24l,235 22t+24e+24n,237 22t+24e+24o,238 22t+24l,231 22t+24n,233 22t+24o,234 26d+27y,26e 29x,2cu
2a0,2b4,2bi 2a0+2bl,2cr 2a1,2co,2kp 2a1+2b7,2a2 2a1+2mv,2kq 2a6,2ct 2a6+2b9,2d3 2a8,2ak,2l8 2ad,2cn 2ai,2cq
2ai+2bl,2cs 2ai+2bm,2cy 2an+2bj,2m2 2ar,2lf 2aw+2bk,2d6 2ax,2bs 2b2+2bk,2d0 2b3,2cw 2b7,2c7 2b8,2lw 2ba,2ly
2bb,2d4 2bj,2m7,2m8 2bq+2a0,2bu 2bq+2b7,2bw 2br+2a0,2bv 2cz,2d1 2dh,2h1 2di,2h2 2dj,2h3 2dn+2f2,2g0
2do+2f2,2g1 2du,2he 2du+2fg,2dw,2hg 2du+2fp,2dv,2hf 2e4,2ho 2e6,2hq 2e9+mb,2ea 2eb,2hv 2ef+14s,2ed
2ek+mb,2el 2en,2i7 2eo+14s,2e8 2ep,2i9 2eq,2ia 2et+mb,2ev 2et+2f2,2ex 2et+2f5,2em 2f5+2f2,2f6 2f7+2f2,2f8
2g7,2jr 2g8,2js 2gf,2jz 2h8+2im,2jl 2kn+2mv,2ko 2ku+2me,2kw 2ky+2m6,2kz 2ky+2mv,2l0 2la,2n5 2li+2ml+2ls,2nf
2lk+2m9,2ks,2l5,2nt 2lk+2ml,2nj,2nv 2lk+2ml+2lk,2ng 2lk+2ml+2lq,2my 2ls,2lt 2ls+2ml,2ne,2nw 2lx+2ml+2ls,2ni
2m1+2ml+2lq,2nq 2m9,2ma,2mb 2me+2me,2mg 2oy,2qy 2pb,2qz 2qw+2q7,2qx 2qw+2qb,2r3 2rm,2rn 2ro,2s4,2s5 2rq,2sh
2rs,2vc 2ru,2rv 2ry,2rz 2s1,2s7 2sa,2vu 2sb,2vv 2sd,2vx 2se,2vy 2sf,2vz 2sg,2sm 2si,2vh 2sv,4pg 2sy,2th
2t0,4on 2t1,4oo 2t2,4op 2t3,4oq 2t4,2wo 2t5,2wp 2tc+2tc,2td 2tk,2x4,4p7 2tl,2x5 2tm,2x6 2tn,2x7 2tr,4pl
2u2,4ph 2u3,4pm 2z1+2z1,2z2 2ze+2ze,2zf 2ze+2zh,2zj 2zh+2ze,34e 2zh+2zh,2zi 31c+31w+32a+2z8,2yr
31c+31w+32a+327,2yq 31e,31m 31k+324+326,2yo 35u+370,35s 35u+37i,39d 35v+37i,38w 36d+370,36n 36d+370+37i,38v
36d+37i,38m 36m+37g,36x 36m+37g+375+370+37e,36y 37l,38l 37u+37u,37v 399+37i,39a 39f+lm,3a6 3cw,3hk
3cw+3cw,3cx,3hl 3cw+3cy,3ju 3cw+3cz,3fe 3cw+3d1,3ib 3cw+3d3,3jv 3cw+3d5,3hm 3cw+3d5+3cw,3ic 3cw+3da,3jw
3cw+3db,3jx 3cw+3de,3jy 3cy,3hn 3cy+3cw,3df,3id 3cy+3cy,3dg,3jz 3cy+3cz,3dh,3ie 3cy+3d1,16mj 3cy+3d3,3di
3cy+3d5,3ff,3if 3cy+3d8,3fg,3ho 3cy+3da,16mk 3cy+3dc,3ih 3cy+3de,3fh,3hp 3cy+3eo,3ig 3cz,3hq 3cz+3cw,3dj,3ii
3cz+3cz,3d0,16ml 3cz+3cz+3d3,16mm 3cz+3d1,3fi,3ij 3cz+3d2,xgg 3cz+3d3,xgh,16mn 3cz+3d5,xgi,16mo
3cz+3d5+3cw,16mp 3cz+3d8,xgj,16mq 3cz+3da,16mr 3cz+3dc,16ms 3d1,3hr 3d1+3cw,3hs,xgk 3d1+3cw+3cw,xgl,16mt
3d1+3cw+3d5,3ik 3d1+3cw+3de,16mu 3d1+3cy,3dk,3il 3d1+3cz,3im,xgm 3d1+3cz+3cz,xgn 3d1+3cz+3de,3in
3d1+3d1,3dl,3io 3d1+3d1+3db,16mv 3d1+3d2,3ht,xgo 3d1+3d2+3cw,3ip 3d1+3d2+3d5,3iq 3d1+3d2+3de,16mw
3d1+3d3,3hu,xgp 3d1+3d3+3cz,16mx 3d1+3d3+3d3,xgq 3d1+3d3+3d5,3ir 3d1+3d3+3d7,3it,xgr 3d1+3d3+3dd,16my
3d1+3d3+3de,3is 3d1+3d5,3hv,xgs 3d1+3d5+3d5,3iu 3d1+3d7,3dn,16n1 3d1+3d8,xgt 3d1+3db,3iw,xgu 3d1+3dc,3hw
3d1+3dd,3hx 3d1+3de,3dm,3ej,3hy,16nm 3d1+3eo,3iv 3d1+3f0,16mz 3d1+3fd,3ix 3d1+3fd+3de,16n0 3d2,3hz
3d2+3cw,3iy,xgv 3d2+3cy,16n2 3d2+3cy+3cy,16n3 3d2+3cz,xgw 3d2+3d1,3iz 3d2+3d2,16n4 3d2+3d3,3do,3j0
3d2+3d3+3d5,16n5 3d2+3d5,3j1,xgx 3d2+3d5+3d5,3j2 3d2+3d7,3dp,3j6 3d2+3d8,16n6 3d2+3da,3j4 3d2+3de,3j5
3d2+3eo,3j3 3d3,3i0 3d3+3cw,3dq 3d3+3cy,3dr 3d3+3cz,3ds,16n7 3d3+3d1,3j7 3d3+3d1+3dd,16n8 3d3+3d2,16n9
3d3+3d3,3d4,16na 3d3+3d3+3d7,3e4 3d3+3d5,3dt,3i1 3d3+3d5+3cw,3du 3d3+3d5+3cz,3dv,16nb 3d3+3d5+3d3,3dw
3d3+3d5+3d5,3dx 3d3+3d5+3d8,3dy 3d3+3d5+3dc,xgy 3d3+3d7,3e3,3ja 3d3+3d8,3dz,16nc 3d3+3da,3e0,16nd
3d3+3db,xgz 3d3+3dc,3e1 3d3+3dd,3e2,3j8 3d3+3de,3j9,xh0 3d5,3i2 3d5+3cw,3e5,3jb 3d5+3cy,3e6 3d5+3cz,3e7,3jc
3d5+3d1,3e8,3jd 3d5+3d2,3e9,16ne 3d5+3d3,3ea,3je 3d5+3d3+3cw,3eb 3d5+3d3+3d7,16nf 3d5+3d5,3d6,3i3
3d5+3d5+3cw,16ng 3d5+3d5+3cz,16nh 3d5+3d5+3d3,xh1 3d5+3d5+3d5,3ec 3d5+3d7,3ed 3d5+3d8,3ee,16nj
3d5+3da,3ef,16nk 3d5+3db,3eg 3d5+3dc,3eh,16nl 3d5+3dd,3ei 3d5+3eo,16ni 3d7,3i4 3d7+3cw,3ep,3jg
3d7+3cw+3cw,3jh 3d7+3cz,3eq 3d7+3d1,xh2 3d7+3d2,3er 3d7+3d3,3es 3d7+3d5,3et,3jl 3d7+3d7,3ev,3ji 3d7+3d8,3ew
3d7+3da,3ex 3d7+3db,3jj 3d7+3dc,3ey 3d7+3dd,3ez 3d7+3de,xh3 3d7+3eo,3eu,3jm 3d8,3i5 3d8+3d3,16nr
3d8+3d3+3d3,16ns 3d8+3d7,3f1 3d8+3d8,3d9,16nt 3d8+3d8+3de,xh4 3da,3i6 3da+3db,3f6 3da+3de,3f7 3db,3i7
3dc,3i8 3dc+3dc,xh5 3dd,3i9 3dd+3d3,3fa,3jn 3dd+3d5,16nu 3dd+3d7,3fb,3jo 3dd+3dc,16nv 3dd+3de,xh6 3de,3ia
3de+3cy,3jp 3de+3d1,3jq 3de+3d2,3jr 3de+3d3,3js 3de+3d5,xh7 3de+3de,3fc 3ek+3ek,3el 3em+3em,3en 3eo,3jf
3eo+3d3,16nn 3eo+3d3+3d7,16no 3f0,3jk 3f0+3d2,16np 3f0+3de,16nq 3f2+3f2,3f3 3f4+3f4,3f5 3fd,3jt 3fd+3fd,xh8
3fl+3ft,3g6 3fl+3fy,3g7 3fl+9oc,3hf 3fl+ffs,3fm 3fn+3ft,3g8 3fn+3fx,3g9 3fn+3fy,3hg 3fn+ffs,3fo 3fp+3ft,3ga
3fp+3fy,3gb 3fp+9oc,3gc 3fp+ffs,3fq 3fr+3fn,3hh 3fr+3ft,3gd 3fr+3fy,3ge 3fr+ffs,3fs 3ft+3fl,3fu
3ft+3fl+ffs,3fv 3ft+3fn,3hi 3ft+3fn+ffs,3hj 3ft+3fp,3gf 3ft+3fp+ffs,3gg 3ft+3fr,16ls 3ft+3fr+ffs,3gh
3ft+3ft,3gi 3ft+3ft+ffs,16lt 3ft+3fy,3gj 3ft+ffs,3fw 3fx+3fl,16lu 3fx+3fl+ffs,16lv 3fx+3fn,3gk,3gm
3fx+3fn+ffs,3gl 3fx+3fp,16lw 3fx+3ft,3gn 3fx+ffs,3go 3fy+3fl,3gp 3fy+3fl+ffs,3gq 3fy+3fp,3fz 3fy+3fp+9oc,3gr
3fy+3fp+ffs,3g0 3fy+3fr,16lx 3fy+3fr+ffs,3gs 3fy+3fy,3gt 3fy+ffs,3g1 3fy+ffs+ffs,16ly 3g2+3fl,3gu
3g2+3fl+ffs,16lz 3g2+3fp,3gv 3g2+3fp+ffs,3gw 3g2+3fr,3gx 3g2+3fr+ffs,3gy 3g2+3ft,16m0 3g2+3fy,3gz
3g2+ffs,3h0 3ha+3fl,16md 3ha+3fp,3hb 3ha+3fp+ffs,16me 3ha+3fy,3hc 3ha+3ha,3he 3ha+ffs,3hd 3k6,11g 3mp,11o
3ou,117 3s3,11m 3xr,6ba 3y9+53,3yl 3y9+3z4,3zf 3yc+53,3yp 3yd+53,3yr 3yd+3z4,3zh 3ye+53,3yt 3yi+53,3yw
3yi+3z4,3zi 3yj+53,3yy 3z2+4wv,4wt 3z5,441 3zd,474 3zm+53,3zz 3zo+53,403 3zp,6zt 3zt+53,407 40f+53,40s
40g,6tf,947 40g+13,415 40g+1b,7ux 40g+53,40u 40g+40l,8gn 40h+53,40w 40l,6te,946 40l+13,416 40l+53,40y
40m+53,410 417+13,41x 417+53,41h 41a+53,41l 41c+53,41p 41e+13,420 41e+53,41r 41f+53,41t 421,4cj 421+53,42b
423+53,42d 424+53,42f 426+53,42j 428,4ci 428+53,42l 429+53,42n 42r+53,431 42u+53,435 42v+53,437 42w+53,439
42z+53,43d 43k+53,43u 43m+53,4w7 43n+53,4w9 43o+53,4wb 43p+53,4wd 43r+53,43w 43s+53,43y 443,4ck 443+53,44d
445+53,44f 446+53,44h 447+53,44j 448+53,44l 44a,4cn 44a+53,44n 44b+53,44p 44t+53,453 44v+53,455 44w+53,457
44x+53,459 44y+53,45b 450+53,45d 451+53,45f 45n+1o,45o 45n+40l,45p 45n+41e,45q 45n+428,45r 45s+53,460
45t+53,462 45u+53,464 45v+53,466 45w+53,468 45x+53,46a 45y+53,46c 46g+53,46q 46h+53,46s 46i+53,46u
46j+53,46w 46l+53,46y 46m+53,470 477,4de 477+53,4ww 47a,4df 47e,4dg 47g+53,47j 47k+28,48v 47k+2s,48x
47k+417,4fj 47k+418,48u 47k+41a,48w 47k+41c,48y 47k+41e,48z 47k+41f,490 47k+41v,491 47u+53,47w 47y+53,4wz
486+53,4x0 487+53,489 48b+53,4x1 492+53,4x4 49h+22,49d 49h+421,4fk 49h+422,49a 49h+423,49b 49h+424,49c
49h+426,49e 49h+428,49f 49h+429,49g 49i+22,4fn 49i+423,4fl 49i+424,4fm 49i+426,4fo 49i+428,4fp 49i+429,4fq
49j+53,4x6 49z+53,4fr 4a0+53,4fs 4a1+53,4ft 4a2+53,4fu 4a3+53,4fv 4a4+53,4fw 4a5+53,4fx 4b6,8ff 4b9,8fe
4bl,wl3 4c4+53,4xc 4d7+53,4xe 4f4,wkt 4hl,wxc 4ho,4ip 4hp,4hu,70f 4i3,2k3j 4i7,6mp 4i8,6nz 4i8+4ii,86b
4i8+6o2,86m 4ii,6ny,8bl 4ik,6v8,7gn,7gq,7ky,1f2s,1jg7,2rf8 4ik+mq,6ze 4im,6vc,8bh 4iu,1fio 4iw,6mt 4j3,8yr
4o2,4o3 4s5,4t1 4t8,4uu 4wv+3z2,4ws 4xh,4wr 526,53k 52p,53l 56t,58g,58w 59k+59k,59l 59m+59k,59n 5cd,5ea
5ch,5eb 5d4,5eg 5e8,5ek 5em+5em,5en 5kr+5kr,5ks 5mm+5mm,5mn 5q8,xve 5qd,xv4 5qf,xvg 5qi,xvf 5qm,on,u0,1ff1
5qw,5rd,xwy 5qx,un 5qz,qs,ua,xv6 5qz+mh,x9 5wf,92g 61r,qc,12m,48n,94p 6f5+6f4,73c 6go,9hu 6i1,wvj
6k2,4ad,wke 6kk,2k2j 6n2,8oc 6n3,8od 6n4,8oe 6n5,8of 6nm,6np 6o3+4ii,86n 6o3+6o2,86d 6pu,2ojw 6pu+mt,6o,2ojx
6px,6ww 6pz,1jfs 6pz+lk,6zm 6pz+ms,6zv 6q6,7ew,7fk 6q8,8cf 6qo,2ojs 6qv,6v4 6r8,94b 6r9,94a 6rb,94c 6rs,1i3i
6rz,7ke,2rfi 6sh,6sj 6tp,8ar 6tq,8as 6tr,2k3c 6ts,2k3d 6tv,8at 6tw,8au 6tz,8aq 6u3,6zj 6u8,2rg1 6u9,2rf9
6uq,7gh 6ur,7g7 6va+lk,6zn 6xe,7hc 6xl,8cd 6xw,6xx 6yj,893 6ym,7gu,88u 6yq,891 6yx,88g 6yz,72b 6z2,72a
6z9,729 6zp,5y,9c 6zx,72e 70o,7js 739,7g1 73v,73w 7b6,7b7 7bg,7bj 7bw,7c3 7f0,7f4 7fa,7fb 7fc,7fh 7fl,7io
7g6,7g8,7ga 7jb,8vd 7jd,2rd6 7jx,2qky,2ql5 7jy,73y,2ql4 7sc,7vs,9hk,9jj,9uj,2zfs 7sd,7vt,9hl 7vq,9i2 7vr,9i3
87u,89l 89r,2rei 8bj,8ce 8qn,xhu 8rz,4as,6ps,wkv,2k2f 8s0,1fdr 8s5,og,3vs,3w0,wxd 8s6,xvk 8ty,7jk 8vc,1ew0
8xs,1f3s 8xu,6e6,87t,94t 8yf,6e5,6we 92k,5wu 9j0,6yp,890 9ko,9nc 9oc,3g3,6c4,6c5,7b4,7b5,9u8,feo,x6f
9oc+3fl,16m1 9oc+3fp,16m2 9oc+3fp+ffs,16m3 9oc+3ft,16m4 9oc+3fy,3h1 9oc+9oc,3h2 9oc+ffs,3g4 9oc+ffs+3fy,3h3
aim,96z ako,dcr app,beb b96,97b bi9,jrd bmi,kc6 bp1,ph2 bp6,imo bp7,dgg bs3,kx5 cop,vk3 cov,k83 dhf,kdi
dyu,ra6 ffs,3g5,718,71b,71e,71h,71m,71q,9u9 ffs+3fl,3h4 ffs+3fn,3h5 ffs+3fn+3ft,16m5 ffs+3fn+ffs,16m6
ffs+3fr,16m7 ffs+3fr+ffs,16m8 ffs+3ft,3h6 ffs+3ft+ffs,16m9 ffs+3fx,16ma ffs+3fy,3h7 ffs+3g2,16mb ffs+3ha,3h9
ffs+9oc,3h8 ffs+ffs,16mc ffw,97q fh5,9uo fh6,96r,9un fh7,96q,9ue fi8,99u fid,9ui fik,9mz fjv,96t,9lw fp1,fsy
ftw,fuk g1s,972 g2z,9n3 g76,96x gbf,9m3 ggd,34m ggg,34l ggs,9mw gkj,9nx,h5j gur,gv3 h7j,hkb hgh,hgr hij,hkv
hlh,9mn hwv,hz4 i76,974 i77,973 ijp,9m0 ik3,976 ild,ilu inu,977 itt,978 ix0,97a jee,jeg jf0,97c jzp,97d
k21,99n k4h,97f k7u,k89 kcs,peu kcv,pg0 kcw,pfu kcz,phd kd4,pif kdf,plz kfi,kjj kv1,kyv l7z,99p l8a,97i
lch,97k ldh,97l ldm,97m lu0,lzt m7g,97n mjv,97o mnh,97s npw,nrj ny3,97x o9o,99r oop,97z or9,os6 p5e,97v,982
p5f,981 paa,989 pds,98a ph8,pj5 prt,98e,98f,98g q6l,qbj qif,qip qj2,98h qxw,98i r5r,98k r5s,98j r7l,98l
ram,rct rk6,rkf rkw,98o rq4,rqb rvh,98p ry7,rye s11,s1m s5z,s63 s8v,s9z sbq,98r sdy,98s,98t slq,sm6 t65,t66
tc5,98w tiv,98x tiw,98y tj3,98z tm0,990 tnh,98v,992 trr,trs tw2,994 u06,995 u45,996 u6m,997 u72,998 u73,999
u74,99b uar,99c ui4,99e unw,99g uws,99h v9e,v9f vc6,99k vd0,99l vdd,vde vgw,99o vi7,99q vix,99s vnu,wim
vo0,wj0 vr4,wik vua,wiw w2h,wjj w4x,wji w5p,wic wbv,wjk wc5,wjm wcf,wje wci,wj4 wgo,wiv wk5,6ud,7uq,x4h,2k2k
wkk,x3y wko,6kh wl2,6ki,1fdd,20iu,2k2d,2k2z wuk,x4m wuw,20ik,2rcx wvd,1fjf wz7+wz7,wz8 x0n,x3p x1a,sf x1b,ot
x2x,x2y x3a,3a8 x3m,sk,6gc,8so x3n,gr,qd,us,101,6wk,8sp,xwb,1fe1,1jgu x3n+mq,707 x6j,4af,2k34 xdn,1i3g
xdo,1i3f xi5,xib xjk,xja xkx,xn7 xlv,xna xu9,5z7 1f3c,6tx,8ap,wwq,2re0 1f3w,7gd,2k2c,2rd0 1f40,89i 1f9e,1fbl
1f9v,1fbn 1fa2,1kxk 1fde,x3u 1fei,x3v 1fgm,1fhc 1ggu,7j9,1omx 1gly+1gly,1glz 1h1e,1h4s 1h2d,1h4q
1ik4+1iki+1ij6,1ij7 1ik4+1iki+1ijc,1ijd 1ik4+1iki+1ijn,1ijo 1ik4+1iki+1ijt,1iju 1ik4+1iki+1ijw,1ijx
1ik4+1iki+1ijy,1ijz 1ikr+1ikr,1iks 1ite,1ivs,1ivt 1itf,1ivu 1itg,1ivv 1iuq,1ivw 1iur,1ivx 1iyp+1iyp,1iyq
1jvp+1jvp,1jvs 1jvp+1jvp+1jvz,1jvt 1jvp+1jvp+1jw0,1jvu 1jvp+1jvz,1jvq 1jvp+1jw0,1jvr 1jvv+1jvv,1jvx
1jvv+1jvv+1jvz,1jvy 1jvv+1jvz,1jvw 1jw3+1jvz,1jw4 1jw3+1jw0,1jw5 1jw3+1jw3,1jw6 1jw3+1jw3+1jvz,1jw7
1jw3+1jw3+1jw0,1jw8 1k5d+1k5d,1k5e 1k8a,1k8i 20hs,6kj 2jx4+2jxh,7l5 2jx4+2jxh+2jxq,7l6
`;

const characterOf = (codePoint: string): string => String.fromCodePoint(Number.parseInt(codePoint, 36));

/** Prototypes by the characters that look like them. */
export const CONFUSABLES: ReadonlyMap<string, string> = new Map(
  WORDS.trim()
    .split(/\s/)
    .flatMap((word) => {
      const [prototype = '', ...alike] = word.split(',');
      const text = prototype.split('+').map(characterOf).join('');
      return alike.map((one): [string, string] => [characterOf(one), text]);
    }),
);
